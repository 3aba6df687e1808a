"""The consumer of the stream loses nothing and blocks nothing."""

import json
from typing import Any

import pytest

from tests.infra.conftest import REGIONS, Synthesized


def mappings(synthesized: Synthesized, *, region: str = "us-east-1") -> list[dict[str, Any]]:
    """Those whose source is a stream: the queue's have no starting position."""
    found = synthesized.properties("AWS::Lambda::EventSourceMapping", region=region)
    return [mapping for mapping in found if "StartingPosition" in mapping]


def test_each_region_has_one_mapping_of_the_stream(prod: Synthesized) -> None:
    assert [len(mappings(prod, region=region)) for region in REGIONS] == [1] * len(REGIONS)


def test_a_shard_is_never_blocked_for_ever_and_what_is_given_up_is_pointed_to(every: Synthesized) -> None:
    (mapping,) = mappings(every)
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["BisectBatchOnFunctionError"] is True
    assert mapping["MaximumRetryAttempts"] == 3
    assert mapping["MaximumRecordAgeInSeconds"] == 43_200
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["DestinationConfig"]["OnFailure"]["Destination"]


def test_heartbeats_are_not_delivered(dev: Synthesized) -> None:
    (mapping,) = mappings(dev)
    (pattern,) = mapping["FilterCriteria"]["Filters"]
    assert json.loads(pattern["Pattern"]) == {
        "dynamodb": {"Keys": {"pk": {"S": [{"anything-but": {"prefix": "heartbeat#"}}]}}}
    }


@pytest.mark.parametrize("region", REGIONS)
def test_a_replicas_stream_is_looked_up_and_the_primarys_is_known(prod: Synthesized, region: str) -> None:
    looked_up = prod.properties("Custom::AWS", region=region)
    assert len(looked_up) == (0 if region == REGIONS[0] else 1)


def test_the_quarantine_is_private_encrypted_and_forgets(dev: Synthesized) -> None:
    (bucket,) = dev.properties("AWS::S3::Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    encryption = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption == [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
    assert [rule["ExpirationInDays"] for rule in bucket["LifecycleConfiguration"]["Rules"]] == [90]


def test_what_needs_a_person_raises_an_alarm(dev: Synthesized) -> None:
    described = {alarm["AlarmDescription"] for alarm in dev.properties("AWS::CloudWatch::Alarm")}
    assert {
        "Session store: a record of the stream was given up; see the dead-letter queue",
        "Session store: the stream's consumer failed",
        "Session store: the stream's consumer is behind",
        "Session store: a record of the stream was not understood; see the quarantine",
    } <= described
