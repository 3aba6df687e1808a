"""What follows the end of a session: queue, mapping, schedule, bus and alarms."""

import json
from typing import Any

from infra.cleanup import TIMEOUT
from session_store.schema import BusEnv, CleanupEnv, WatchEnv
from tests.infra.conftest import REGIONS, Synthesize, Synthesized, as_text

FORTNIGHT = 14 * 86_400


def queues(synthesized: Synthesized) -> tuple[dict[str, Any], dict[str, Any]]:
    """The clean-up's queue and its dead-letter queue."""
    found = [dict(queue) for queue in synthesized.properties("AWS::SQS::Queue", stack="Regional-us-east-1")]
    (queue,) = (queue for queue in found if "RedrivePolicy" in queue)
    (dead,) = (queue for queue in found if "RedrivePolicy" not in queue)
    return queue, dead


def test_messages_wait_a_fortnight_encrypted_and_are_given_up_at_last(dev: Synthesized) -> None:
    queue, dead = queues(dev)
    for each in (queue, dead):
        assert each["MessageRetentionPeriod"] == FORTNIGHT
        assert each["SqsManagedSseEnabled"]
    assert "DeadLetters" in as_text(queue["RedrivePolicy"]["deadLetterTargetArn"])
    assert queue["RedrivePolicy"]["maxReceiveCount"] == 10


def test_a_message_stays_hidden_for_six_times_as_long_as_the_function_may_take(dev: Synthesized) -> None:
    assert queues(dev)[0]["VisibilityTimeout"] >= 6 * dev.function("expiry_cleanup")["Timeout"]
    assert dev.function("expiry_cleanup")["Timeout"] == TIMEOUT.to_seconds()


def test_the_queues_are_reached_by_tls_alone(dev: Synthesized) -> None:
    policies = dev.properties("AWS::SQS::QueuePolicy")
    denied = [
        statement
        for policy in policies
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
    ]
    assert len(denied) == len(policies) == 2
    for statement in denied:
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_the_emulator_which_knows_no_tls_is_let_in(local: Synthesized) -> None:
    assert local.properties("AWS::SQS::QueuePolicy") == []


def test_the_function_reads_the_queue_a_session_at_a_time_and_reports_failures(every: Synthesized) -> None:
    mappings = every.properties("AWS::Lambda::EventSourceMapping", stack="Regional-us-east-1")
    (mapping,) = (m for m in mappings if "CleanupQueue" in as_text(m["EventSourceArn"]))
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert 1 <= mapping["BatchSize"] <= 10
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 10}


def test_the_watch_runs_each_minute_and_is_over_before_the_next(every: Synthesized) -> None:
    (rule,) = every.properties("AWS::Events::Rule", stack="Regional-us-east-1")
    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(1 minute)", "ENABLED")
    assert "ExpiryWatch" in as_text(rule["Targets"][0]["Arn"])
    assert every.function("expiry_watch")["Timeout"] < 60
    (invoked,) = every.properties("AWS::Lambda::EventInvokeConfig", stack="Regional-us-east-1")
    assert invoked["MaximumRetryAttempts"] == 0


def test_each_region_has_a_bus_that_both_functions_know(prod: Synthesized) -> None:
    for region in REGIONS:
        (bus,) = prod.properties("AWS::Events::EventBus", stack=f"Regional-{region}")
        assert bus["Name"] == "session-store-prod"
        for package in ("expiry_cleanup", "expiry_watch"):
            variables = prod.function(package, region=region)["Environment"]["Variables"]
            assert "Events" in as_text(variables[BusEnv.EVENT_BUS_NAME])


def test_a_given_up_message_and_a_failing_function_raise_an_alarm(dev: Synthesized) -> None:
    alarms = dev.properties("AWS::CloudWatch::Alarm")
    watched = {
        (alarm["MetricName"], as_text(alarm["Dimensions"][0]["Value"]).split("Function")[0].strip("<"))
        for alarm in alarms
    }
    assert {(metric, name) for metric, name in watched if metric == "Errors"} == {
        ("Errors", "ExpiryCleanup"),
        ("Errors", "ExpiryWatch"),
    }
    (depth,) = (a for a in alarms if a["MetricName"] == "ApproximateNumberOfMessagesVisible")
    assert "DeadLetters" in as_text(depth["Dimensions"][0]["Value"])
    for alarm in alarms:
        assert (alarm["Threshold"], alarm["ComparisonOperator"]) == (0, "GreaterThanThreshold")
        assert alarm["TreatMissingData"] == "notBreaching"


def test_the_configuration_names_endpoint_client_prefix_and_time(synthesize: Synthesize) -> None:
    synthesized = synthesize(
        credentialPrefix="mcp",
        revocationEndpoint="https://idp.example.com/revoke",
        revocationClientSecret="clients/store",
        expiringWithinSeconds=600,
    )
    variables = synthesized.function("expiry_cleanup")["Environment"]["Variables"]
    assert variables[CleanupEnv.CREDENTIAL_PREFIX] == "mcp"
    assert variables[CleanupEnv.REVOCATION_ENDPOINT] == "https://idp.example.com/revoke"
    assert variables[CleanupEnv.REVOCATION_CLIENT_SECRET] == "mcp/clients/store"
    assert CleanupEnv.REVOCATION_ON_LOOPBACK not in variables
    watched = synthesized.function("expiry_watch")["Environment"]["Variables"]
    assert watched[WatchEnv.EXPIRING_WITHIN_SECONDS] == "600"
    assert [
        resource for resource in synthesized.allowed("expiry_cleanup") if resource.endswith(":secret:mcp/*")
    ]
    assert "mcp" not in json.dumps(watched)


def test_only_the_emulator_lets_tokens_stay_on_this_machine(local: Synthesized) -> None:
    variables = local.function("expiry_cleanup")["Environment"]["Variables"]
    assert variables[CleanupEnv.REVOCATION_ON_LOOPBACK] == "true"
