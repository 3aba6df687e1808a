"""Each region writes each minute, so that there is something whose arrival can be measured."""

from tests.infra.conftest import Synthesized, as_text


def test_every_region_beats_each_minute_and_a_late_beat_is_not_made_good(every: Synthesized) -> None:
    for region in every.regions:
        rule = every.rule("<HeartbeatFunction.Arn>", region=region)
        assert (rule["ScheduleExpression"], rule["State"]) == ("rate(1 minute)", "ENABLED")
        (target,) = rule["Targets"]
        assert target["RetryPolicy"] == {"MaximumRetryAttempts": 0}
        assert every.retries("<HeartbeatFunction>", region=region) == 0
        assert every.function("heartbeat", region=region)["Timeout"] < 60


def test_a_beat_that_fails_raises_an_alarm_in_its_region(every: Synthesized) -> None:
    stage = every.deployment.config.stage
    for region in every.regions:
        (alarm,) = (
            alarm
            for alarm in every.properties("AWS::CloudWatch::Alarm", region=region)
            if alarm["AlarmName"] == f"session-store-{stage}-heartbeat-errors"
        )
        assert (alarm["MetricName"], alarm["Threshold"]) == ("Errors", 0)
        assert as_text(alarm["Dimensions"][0]["Value"]) == "<HeartbeatFunction>"
