"""What follows the end of a session: queue, mapping, schedule, bus and alarms."""

import json
from collections.abc import Mapping
from typing import Any

from infra.cleanup import TIMEOUT
from session_store.schema import BusEnv, CleanupEnv, WatchEnv
from tests.infra.conftest import HASH, REGIONS, Synthesize, Synthesized, as_text

FORTNIGHT = 14 * 86_400


def queues(synthesized: Synthesized) -> dict[str, Mapping[str, Any]]:
    """The queues of the primary region, by the construct that each is of."""
    found = synthesized.resources("AWS::SQS::Queue", region="us-east-1")
    return {HASH.sub("", name.rpartition("/")[2]): queue["Properties"] for name, queue in found.items()}


def schedules(synthesized: Synthesized) -> dict[str, Mapping[str, Any]]:
    """The rules of the primary region, by the function that each starts."""
    rules = synthesized.properties("AWS::Events::Rule", region="us-east-1")
    return {as_text(rule["Targets"][0]["Arn"])[1:-5]: rule for rule in rules}


def test_messages_wait_a_fortnight_encrypted_and_are_given_up_at_last(every: Synthesized) -> None:
    found = queues(every)
    assert set(found) == {"CleanupQueue", "CleanupQueueDeadLetters", "AuditConsumerDeadLetters"}
    for each in found.values():
        assert each["MessageRetentionPeriod"] == FORTNIGHT
        assert ("KmsMasterKeyId" in each) != ("SqsManagedSseEnabled" in each)
    assert [name for name, queue in found.items() if "RedrivePolicy" in queue] == ["CleanupQueue"]
    policy = found["CleanupQueue"]["RedrivePolicy"]
    assert as_text(policy["deadLetterTargetArn"]) == "<CleanupQueueDeadLetters.Arn>"
    assert policy["maxReceiveCount"] == 10


def test_a_message_stays_hidden_for_six_times_as_long_as_the_function_may_take(dev: Synthesized) -> None:
    assert queues(dev)["CleanupQueue"]["VisibilityTimeout"] >= 6 * dev.function("expiry_cleanup")["Timeout"]
    assert dev.function("expiry_cleanup")["Timeout"] == TIMEOUT.to_seconds()


def test_the_queues_are_reached_by_tls_alone(dev: Synthesized) -> None:
    policies = dev.properties("AWS::SQS::QueuePolicy")
    told = {as_text(queue): policy for policy in policies for queue in policy["Queues"]}
    assert set(told) == {f"<{name}>" for name in queues(dev)}
    for policy in told.values():
        (statement,) = policy["PolicyDocument"]["Statement"]
        assert (statement["Effect"], statement["Action"]) == ("Deny", "sqs:*")
        assert statement["Principal"] == {"AWS": "*"}
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_the_emulator_which_knows_no_tls_is_let_in(local: Synthesized) -> None:
    assert local.properties("AWS::SQS::QueuePolicy") == []


def test_the_function_reads_the_queue_a_session_at_a_time_and_reports_failures(every: Synthesized) -> None:
    (mapping,) = every.mappings("queue")
    assert as_text(mapping["EventSourceArn"]) == "<CleanupQueue.Arn>"
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert 1 <= mapping["BatchSize"] <= 10
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 10}


def test_the_watch_runs_each_minute_and_is_over_before_the_next(every: Synthesized) -> None:
    rule = schedules(every)["ExpiryWatchFunction"]
    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(1 minute)", "ENABLED")
    assert every.function("expiry_watch")["Timeout"] < 60


def test_sessions_are_counted_each_hour_in_production_and_otherwise_as_often_as_is_said(
    prod: Synthesized, synthesize: Synthesize
) -> None:
    assert schedules(prod)["SessionCensusFunction"]["ScheduleExpression"] == "rate(1 hour)"
    often = synthesize(censusMinutes=15)
    assert schedules(often)["SessionCensusFunction"]["ScheduleExpression"] == "rate(15 minutes)"
    assert often.function("session_census")["Timeout"] < 15 * 60
    never = synthesize()
    assert set(schedules(never)) == {"ExpiryWatchFunction", "HeartbeatFunction"}
    assert not [one for one in never.functions() if one["Handler"].startswith("session_census")]


def test_no_run_of_a_schedule_is_tried_again(every: Synthesized) -> None:
    started = every.properties("AWS::Lambda::EventInvokeConfig", region="us-east-1")
    assert len(started) == len(schedules(every))
    assert {one["MaximumRetryAttempts"] for one in started} == {0}


def test_each_region_has_a_bus_that_both_functions_know(prod: Synthesized) -> None:
    for region in REGIONS:
        (bus,) = prod.properties("AWS::Events::EventBus", region=region)
        assert bus["Name"] == "session-store-prod"
        for package in ("expiry_cleanup", "expiry_watch"):
            variables = prod.function(package, region=region)["Environment"]["Variables"]
            assert "Events" in as_text(variables[BusEnv.EVENT_BUS_NAME])


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
