"""The bucket for large payloads: who reaches it, how long it keeps, and what there is without it."""

from collections.abc import Mapping
from typing import Any

from session_store.domain.window import LONGEST_LIFE
from session_store.schema import PayloadEnv
from tests.infra.conftest import Synthesize, Synthesized, as_text

DAYS_OF_THE_LONGEST_SESSION = LONGEST_LIFE // 86_400


def of_payloads(synthesized: Synthesized, kind: str) -> list[Mapping[str, Any]]:
    """The resources of every region's payload bucket."""
    found = synthesized.resources(kind).items()
    return [resource["Properties"] for name, resource in found if "/Payloads" in name]


def test_it_is_private_encrypted_and_reached_by_tls_alone(every: Synthesized) -> None:
    buckets = of_payloads(every, "AWS::S3::Bucket")
    assert len(buckets) == len(every.regions)
    for bucket in buckets:
        assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
        assert "CorsConfiguration" not in bucket
        assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    for policy in of_payloads(every, "AWS::S3::BucketPolicy"):
        plain, old = policy["PolicyDocument"]["Statement"]
        assert [(each["Effect"], each["Action"]) for each in (plain, old)] == [("Deny", "s3:*")] * 2
        assert plain["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        assert old["Condition"] == {"NumericLessThan": {"s3:TlsVersion": 1.2}}
    if not every.deployment.config.is_local:
        assert len(of_payloads(every, "AWS::S3::BucketPolicy")) == len(buckets)


def test_the_key_of_our_own_encrypts_it_where_there_is_one(dev: Synthesized, sealed: Synthesized) -> None:
    for synthesized, algorithm in ((dev, "AES256"), (sealed, "aws:kms")):
        for bucket in of_payloads(synthesized, "AWS::S3::Bucket"):
            (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
            assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == algorithm


def test_no_object_of_a_living_session_is_swept(every: Synthesized) -> None:
    for bucket in of_payloads(every, "AWS::S3::Bucket"):
        (rule,) = bucket["LifecycleConfiguration"]["Rules"]
        assert rule["Status"] == "Enabled"
        assert rule["ExpirationInDays"] > DAYS_OF_THE_LONGEST_SESSION


def test_those_who_keep_and_those_who_erase_are_told_of_their_own_regions(prod: Synthesized) -> None:
    for region in prod.regions:
        for package in ("session_api", "expiry_cleanup"):
            variables = prod.function(package, region=region)["Environment"]["Variables"]
            assert as_text(variables[PayloadEnv.PAYLOAD_BUCKET]) == "<PayloadsBucket>"


def test_without_it_nobody_is_told_of_one_and_nobody_may_reach_one(synthesize: Synthesize) -> None:
    without = synthesize(largePayloads=False)
    assert of_payloads(without, "AWS::S3::Bucket") == []
    for package in ("session_api", "expiry_cleanup"):
        assert PayloadEnv.PAYLOAD_BUCKET not in without.function(package)["Environment"]["Variables"]
        assert not [resource for resource in without.allowed(package) if "Payloads" in resource]
