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


def test_a_region_that_is_silent_for_five_minutes_raises_an_alarm_as_soon_as_it_is_to_beat(
    every: Synthesized,
) -> None:
    for region in every.regions:
        ((_, alarm),) = (
            found
            for found in every.resources("AWS::CloudWatch::Alarm", region=region).items()
            if "HeartbeatSilent" in found[0]
        )
        rule = every.resources("AWS::Events::Rule", region=region)
        (beating,) = (name for name in rule if "HeartbeatSchedule" in name)
        assert beating.rpartition("/")[2] in alarm["DependsOn"]
        watched = alarm["Properties"]
        assert (watched["MetricName"], watched["Statistic"], watched["Period"]) == ("Heartbeats", "Sum", 60)
        assert watched["TreatMissingData"] == "breaching"


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
