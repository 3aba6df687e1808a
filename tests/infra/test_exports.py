"""What leaves the tables: the audit's exports, and the stream of changes."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.infra.conftest import Synthesized, as_text

DATA = "-Data"


def one(synthesized: Synthesized, kind: str) -> Mapping[str, Any]:
    (found,) = synthesized.of_stack(DATA, kind).values()
    return found


@pytest.fixture(scope="module")
def schedule(optional: Synthesized) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = one(optional, "AWS::Scheduler::Schedule")["Properties"]
    return properties


def test_nothing_leaves_unless_it_is_asked_for(every: Synthesized) -> None:
    for kind in ("AWS::Scheduler::Schedule", "AWS::Kinesis::Stream", "AWS::S3::Bucket"):
        assert every.of_stack(DATA, kind) == {}


def test_the_audit_is_exported_whole_and_once_a_run(schedule: Mapping[str, Any]) -> None:
    target = schedule["Target"]
    assert as_text(target["Arn"]).endswith(":scheduler:::aws-sdk:dynamodb:exportTableToPointInTime")
    request = json.loads(as_text(target["Input"]))
    assert request == {
        "TableArn": "<Audit.Arn>",
        "S3Bucket": "<AuditExportBucket>",
        "S3BucketOwner": "<AWS::AccountId>",
        "S3Prefix": "audit",
        "S3SseAlgorithm": "AES256",
        "ExportFormat": "DYNAMODB_JSON",
        "ClientToken": "<aws.scheduler.scheduled-time>",
    }
    assert target["RetryPolicy"]["MaximumEventAgeInSeconds"] < 8 * 3600, "the token holds eight hours"


def test_it_runs_by_the_schedule_that_is_asked_for(
    schedule: Mapping[str, Any], cached_apart: Synthesized
) -> None:
    assert schedule["ScheduleExpression"] == "cron(15 3 ? * SUN *)"
    daily = one(cached_apart, "AWS::Scheduler::Schedule")["Properties"]
    assert daily["ScheduleExpression"] == "cron(15 3 * * ? *)"


def test_its_role_exports_that_table_into_that_prefix_and_no_more(optional: Synthesized) -> None:
    policy = one(optional, "AWS::IAM::Policy")["Properties"]
    granted = {
        as_text(statement["Resource"]): statement["Action"]
        for statement in policy["PolicyDocument"]["Statement"]
    }
    assert granted == {
        "<Audit.Arn>": "dynamodb:ExportTableToPointInTime",
        "<AuditExportBucket.Arn>/audit/*": ["s3:AbortMultipartUpload", "s3:PutObject", "s3:PutObjectAcl"],
        "<AuditExportDeadLetters.Arn>": "sqs:SendMessage",
    }


def test_the_bucket_is_closed_and_by_tls(optional: Synthesized) -> None:
    bucket = one(optional, "AWS::S3::Bucket")["Properties"]
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert "ServerSideEncryptionConfiguration" in bucket["BucketEncryption"]
    statements = one(optional, "AWS::S3::BucketPolicy")["Properties"]["PolicyDocument"]["Statement"]
    assert {statement["Effect"] for statement in statements} == {"Deny"}
    assert {"Bool": {"aws:SecureTransport": "false"}} in [one["Condition"] for one in statements]


def test_exports_grow_cold_and_go(optional: Synthesized, cached_apart: Synthesized) -> None:
    def rule(synthesized: Synthesized) -> Mapping[str, Any]:
        bucket = one(synthesized, "AWS::S3::Bucket")["Properties"]
        (rule,) = bucket["LifecycleConfiguration"]["Rules"]
        found: Mapping[str, Any] = rule
        return found

    assert rule(optional)["ExpirationInDays"] == 2557
    assert rule(optional)["Transitions"] == [{"StorageClass": "GLACIER_IR", "TransitionInDays": 30}]
    assert rule(cached_apart)["ExpirationInDays"] == 100
    assert "Transitions" not in rule(cached_apart), "it would be billed for longer than it is kept"


def test_exports_outlive_a_retained_stack(optional: Synthesized, cached_apart: Synthesized) -> None:
    kept = [one(synthesized, "AWS::S3::Bucket")["DeletionPolicy"] for synthesized in (optional, cached_apart)]
    assert kept == ["Delete", "RetainExceptOnCreate"]


def test_an_export_that_is_not_begun_is_told_of_in_the_primary_alone(
    schedule: Mapping[str, Any], optional: Synthesized, cached_apart: Synthesized
) -> None:
    assert as_text(schedule["Target"]["DeadLetterConfig"]["Arn"]) == "<AuditExportDeadLetters.Arn>"
    for synthesized in (optional, cached_apart):
        alarmed = [
            region
            for region in synthesized.regions
            for alarm in synthesized.properties("AWS::CloudWatch::Alarm", region=region)
            if alarm["AlarmName"].endswith("-audit-export-dead-letters")
            and alarm["AlarmDescription"].endswith("#audit-export-dead-letters")
        ]
        assert alarmed == ["us-east-1"]


def test_changes_go_to_a_stream_of_the_primary_that_is_encrypted(optional: Synthesized) -> None:
    assert one(optional, "AWS::Kinesis::Stream")["DeletionPolicy"] == "Delete", "the table has all of it"
    stream = one(optional, "AWS::Kinesis::Stream")["Properties"]
    assert stream["StreamModeDetails"] == {"StreamMode": "ON_DEMAND"}
    assert stream["StreamEncryption"]["EncryptionType"] == "KMS"
    assert stream["RetentionPeriodHours"] == 24
    (replica,) = optional.table("session-store-dev")["Replicas"]
    assert as_text(replica["KinesisStreamSpecification"]["StreamArn"]) == "<Changes.Arn>"
    assert "KinesisStreamSpecification" not in str(optional.table("session-store-audit-dev"))


def test_no_replica_repeats_the_changes_of_the_others(cached_apart: Synthesized) -> None:
    streamed = {
        replica["Region"]: "KinesisStreamSpecification" in replica
        for replica in cached_apart.table("session-store-prod")["Replicas"]
    }
    assert streamed == {"us-east-1": True, "us-west-1": False}
