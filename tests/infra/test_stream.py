"""The consumer of the stream loses nothing and blocks nothing."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.infra.conftest import REGIONS, Synthesized, as_text, is_cdks_own


def test_each_region_has_one_mapping_of_the_stream_to_the_consumer(every: Synthesized) -> None:
    for region in every.regions:
        (mapping,) = every.mappings("stream", region=region)
        assert as_text(mapping["FunctionName"]) == "<AuditConsumerFunction>"


def test_a_shard_is_never_blocked_for_ever_and_what_is_given_up_is_pointed_to(every: Synthesized) -> None:
    for region in every.regions:
        (mapping,) = every.mappings("stream", region=region)
        assert mapping["StartingPosition"] == "TRIM_HORIZON"
        assert mapping["BisectBatchOnFunctionError"] is True
        assert mapping["MaximumRetryAttempts"] == 3
        assert mapping["MaximumRecordAgeInSeconds"] == 43_200
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        destination = mapping["DestinationConfig"]["OnFailure"]["Destination"]
        assert as_text(destination) == "<AuditConsumerDeadLetters.Arn>"


def test_heartbeats_are_not_delivered(every: Synthesized) -> None:
    for region in every.regions:
        (mapping,) = every.mappings("stream", region=region)
        (pattern,) = mapping["FilterCriteria"]["Filters"]
        assert json.loads(pattern["Pattern"]) == {
            "dynamodb": {"Keys": {"sk": {"S": [{"anything-but": ["heartbeat"]}]}}}
        }


def test_the_primarys_stream_is_that_of_the_table(every: Synthesized) -> None:
    (mapping,) = every.mappings("stream")
    stage = every.deployment.config.stage
    source = f"<SessionStore-{stage}-Data.PublishOutputFnGetAttSessionsStreamArn>"
    assert as_text(mapping["EventSourceArn"]) == source
    assert not every.properties("Custom::AWS", region="us-east-1")


@pytest.mark.parametrize("region", REGIONS[1:])
def test_a_replicas_stream_is_looked_up_as_its_stack_is_deployed(prod: Synthesized, region: str) -> None:
    (lookup,) = prod.properties("Custom::AWS", region=region)
    assert lookup["Create"] == lookup["Update"]
    assert "Delete" not in lookup
    call = json.loads(lookup["Create"])
    assert (call["service"], call["action"]) == ("DynamoDB", "describeTable")
    assert call["parameters"] == {"TableName": "session-store-prod"}
    (mapping,) = prod.mappings("stream", region=region)
    assert as_text(mapping["EventSourceArn"]) == "<StreamOfReplica.Table.LatestStreamArn>"


@pytest.mark.parametrize("region", REGIONS[1:])
def test_a_table_made_anew_has_its_replicas_looked_at_again(prod: Synthesized, region: str) -> None:
    (lookup,) = prod.properties("Custom::AWS", region=region)
    primary = "<SessionStore-prod-Data.PublishOutputFnGetAttSessionsStreamArn>"
    assert as_text(lookup["PrimaryStream"]) == primary
    assert lookup["PrimaryStream"]["Fn::GetStackOutput"]["Region"] == REGIONS[0]
    call = json.loads(lookup["Update"])
    assert call["physicalResourceId"] == {"responsePath": "Table.LatestStreamArn"}
    assert call["outputPaths"] == ["Table.LatestStreamArn"]


def test_every_region_waits_for_the_tables(every: Synthesized) -> None:
    for stack in every.deployment.regional.values():
        assert every.deployment.data in stack.dependencies


@pytest.mark.parametrize("region", REGIONS[1:])
def test_cdks_function_may_log_to_its_group_and_describe_one_table(prod: Synthesized, region: str) -> None:
    found = prod.resources("AWS::Lambda::Function", region=region)
    (function,) = (f["Properties"] for name, f in found.items() if is_cdks_own(name))
    assert as_text(function["LoggingConfig"]["LogGroup"]) == "<StreamOfReplicaLogs>"
    assert prod.allowed_by(function, region=region) == {
        "<StreamOfReplicaLogs.Arn>": {"logs:CreateLogStream", "logs:PutLogEvents"},
        f"arn:aws:dynamodb:{region}:111122223333:table/session-store-prod": {"dynamodb:DescribeTable"},
    }


def of_quarantine(synthesized: Synthesized, kind: str) -> Mapping[str, Any]:
    """A resource of the primary region's quarantine."""
    found = synthesized.resources(kind, region="us-east-1")
    (resource,) = (each for name, each in found.items() if "/Quarantine" in name)
    return resource


def test_the_quarantine_is_private_encrypted_and_forgets(dev: Synthesized) -> None:
    bucket = of_quarantine(dev, "AWS::S3::Bucket")["Properties"]
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    encryption = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption == [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
    assert [rule["ExpirationInDays"] for rule in bucket["LifecycleConfiguration"]["Rules"]] == [90]


def test_the_quarantine_is_reached_by_tls_alone_but_in_the_emulator(
    dev: Synthesized, local: Synthesized
) -> None:
    policy = of_quarantine(dev, "AWS::S3::BucketPolicy")["Properties"]
    statements = policy["PolicyDocument"]["Statement"]
    assert [statement["Condition"] for statement in statements] == [
        {"Bool": {"aws:SecureTransport": "false"}},
        {"NumericLessThan": {"s3:TlsVersion": 1.2}},
    ]
    for statement in statements:
        assert (statement["Effect"], statement["Action"]) == ("Deny", "s3:*")
        resources = [as_text(resource) for resource in statement["Resource"]]
        assert resources == ["<Quarantine.Arn>", "<Quarantine.Arn>/*"]
    assert local.properties("AWS::S3::BucketPolicy") == []


def test_retained_quarantines_outlive_their_stack_and_others_do_not(
    prod: Synthesized, dev: Synthesized
) -> None:
    def policies(synthesized: Synthesized) -> set[str]:
        return {bucket["DeletionPolicy"] for bucket in synthesized.resources("AWS::S3::Bucket").values()}

    assert policies(prod) == {"RetainExceptOnCreate"}
    assert policies(dev) == {"Delete"}


def test_what_needs_a_person_raises_an_alarm(dev: Synthesized) -> None:
    named = {alarm["AlarmName"] for alarm in dev.properties("AWS::CloudWatch::Alarm")}
    assert named >= {
        "session-store-dev-stream-dead-letters",
        "session-store-dev-audit-consumer-errors",
        "session-store-dev-stream-late",
        "session-store-dev-quarantined",
    }
