"""A key of our own: one multi-Region key, a replica in each other region, and all data at rest under it."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import pytest

from infra import names
from tests.infra.conftest import PACKAGES, REGIONS, ROOT, Synthesize, Synthesized, as_text

PRIMARY, *OTHERS = REGIONS
IN_EACH_REGION = pytest.mark.parametrize("region", REGIONS)
TABLE_USE = {
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
}
USE: Mapping[str, Mapping[str, set[str]]] = {
    "session_api": {
        "dynamodb": TABLE_USE,
        "sqs": {"kms:Decrypt", "kms:GenerateDataKey"},
        "s3": {"kms:Decrypt", "kms:GenerateDataKey"},
    },
    "audit_consumer": {
        "dynamodb": TABLE_USE,
        "sqs": {"kms:Decrypt", "kms:GenerateDataKey"},
        "s3": {"kms:GenerateDataKey"},
    },
    "expiry_cleanup": {"dynamodb": TABLE_USE, "sqs": {"kms:Decrypt"}},
    "expiry_watch": {"dynamodb": TABLE_USE},
    "heartbeat": {"dynamodb": TABLE_USE},
    "session_census": {"dynamodb": TABLE_USE},
}
"""What each function may have done with the key, by the service that does it."""


def key_of(region: str) -> str:
    """The ARN of a region's key, as other stacks have it."""
    return f"<SessionStore-prod-Key-{region}.PublishOutputFnGetAttKeyArn>"


def policy_of(synthesized: Synthesized, region: str) -> list[Mapping[str, Any]]:
    kind = "AWS::KMS::Key" if region == PRIMARY else "AWS::KMS::ReplicaKey"
    found = {name: each for name, each in synthesized.resources(kind).items() if f"Key-{region}/" in name}
    ((_, key),) = found.items()
    statements: list[Mapping[str, Any]] = key["Properties"]["KeyPolicy"]["Statement"]
    return statements


def test_without_one_there_is_no_key_and_nothing_may_use_one(dev: Synthesized, prod: Synthesized) -> None:
    for synthesized in (dev, prod):
        assert not [file for file in synthesized.files if "-Key-" in file.name or "kms:" in file.read_text()]


def test_the_primary_region_has_the_key_and_the_others_replicas_of_it(sealed: Synthesized) -> None:
    (key,) = sealed.properties("AWS::KMS::Key")
    assert (key["MultiRegion"], key["EnableKeyRotation"]) == (True, True)
    replicas = sealed.resources("AWS::KMS::ReplicaKey")
    assert {name.partition("/")[0] for name in replicas} == {f"SessionStore-prod-Key-{r}" for r in OTHERS}
    for replica in replicas.values():
        of = replica["Properties"]["PrimaryKeyArn"]
        assert as_text(of) == key_of(PRIMARY)
        assert of["Fn::GetStackOutput"]["Region"] == PRIMARY


def test_every_region_knows_its_key_by_the_same_alias(sealed: Synthesized) -> None:
    aliases = sealed.properties("AWS::KMS::Alias")
    assert [alias["AliasName"] for alias in aliases] == ["alias/session-store-prod"] * len(REGIONS)


def test_keys_are_retained_with_the_data_they_encrypt_and_go_with_data_that_go(
    sealed: Synthesized, synthesize: Synthesize
) -> None:
    def policies(synthesized: Synthesized) -> set[tuple[str, str]]:
        kinds = ("AWS::KMS::Key", "AWS::KMS::ReplicaKey")
        found = [key for kind in kinds for key in synthesized.resources(kind).values()]
        return {(key["DeletionPolicy"], key["UpdateReplacePolicy"]) for key in found}

    assert policies(sealed) == {("RetainExceptOnCreate", "Retain")}
    one = synthesize(encryption="customer_managed")
    assert policies(one) == {("Delete", "Delete")}
    assert [name.partition("/")[0] for name in one.resources("AWS::KMS::Key")] == [
        "SessionStore-dev-Key-us-east-1"
    ]
    assert one.resources("AWS::KMS::ReplicaKey") == {}


def test_no_name_that_is_always_the_same_stays_in_the_way_of_the_next_stack(
    prod: Synthesized, sealed: Synthesized
) -> None:
    aliases = sealed.resources("AWS::KMS::Alias").values()
    logs = [
        group
        for group in prod.resources("AWS::Logs::LogGroup").values()
        if group["Properties"].get("LogGroupName") == names.web_acl_logs("prod")
    ]
    assert len(logs) == len(REGIONS)
    assert {resource["DeletionPolicy"] for resource in (*aliases, *logs)} == {"Delete"}


def test_a_key_is_there_before_what_it_encrypts(sealed: Synthesized) -> None:
    deployment = sealed.deployment
    keys = deployment.keys
    assert set(keys) == set(REGIONS)
    assert {keys[region] for region in REGIONS} <= set(deployment.data.dependencies)
    for region in REGIONS:
        assert keys[region] in deployment.regional[region].dependencies
    for region in OTHERS:
        assert keys[PRIMARY] in keys[region].dependencies


@pytest.mark.parametrize("name", ["session-store-prod", "session-store-audit-prod"])
def test_each_replica_of_both_tables_is_under_the_key_of_its_region(sealed: Synthesized, name: str) -> None:
    table = sealed.table(name)
    assert table["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}
    under = {
        replica["Region"]: replica["SSESpecification"]["KMSMasterKeyId"] for replica in table["Replicas"]
    }
    assert {region: as_text(key) for region, key in under.items()} == {r: key_of(r) for r in REGIONS}
    assert {region: key["Fn::GetStackOutput"]["Region"] for region, key in under.items()} == {
        region: region for region in REGIONS
    }


@IN_EACH_REGION
def test_queues_topic_and_logs_are_under_the_key_of_their_region(sealed: Synthesized, region: str) -> None:
    kinds = {
        "AWS::SQS::Queue": "KmsMasterKeyId",
        "AWS::SNS::Topic": "KmsMasterKeyId",
        "AWS::Logs::LogGroup": "KmsKeyId",
    }
    for kind, named in kinds.items():
        found = sealed.properties(kind, region=region)
        assert found, kind
        assert {as_text(each.get(named, "none")) for each in found} == {key_of(region)}, kind
        assert not [each for each in found if "SqsManagedSseEnabled" in each]


@IN_EACH_REGION
def test_the_quarantine_is_under_the_key_of_its_region(sealed: Synthesized, region: str) -> None:
    for bucket in sealed.properties("AWS::S3::Bucket", region=region):
        (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        assert rule["BucketKeyEnabled"] is True
        by = rule["ServerSideEncryptionByDefault"]
        assert (by["SSEAlgorithm"], as_text(by["KMSMasterKeyID"])) == ("aws:kms", key_of(region))


def test_all_that_may_hold_data_is_under_the_key_wherever_it_stands(optional_sealed: Synthesized) -> None:
    """What leaves the tables, what waits, and every log: of all stacks."""
    kinds: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
        "AWS::Kinesis::Stream": lambda found: found["StreamEncryption"]["KeyId"],
        "AWS::Logs::LogGroup": lambda found: found["KmsKeyId"],
        "AWS::S3::Bucket": lambda found: found["BucketEncryption"]["ServerSideEncryptionConfiguration"][0][
            "ServerSideEncryptionByDefault"
        ]["KMSMasterKeyID"],
        "AWS::SNS::Topic": lambda found: found["KmsMasterKeyId"],
        "AWS::SQS::Queue": lambda found: found["KmsMasterKeyId"],
    }
    key = "<SessionStore-dev-Key-us-east-1.PublishOutputFnGetAttKeyArn>"
    for kind, named in kinds.items():
        under = {name: as_text(named(each["Properties"])) for name, each in by_name(optional_sealed, kind)}
        assert under == dict.fromkeys(under, key), kind
        assert under, kind


def by_name(synthesized: Synthesized, kind: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    return synthesized.resources(kind).items()


def test_every_log_group_is_one_that_the_key_lets_be_encrypted(optional_sealed: Synthesized) -> None:
    """CloudFormation begins the name of one that has none with its stack's."""
    region = "us-east-1"
    *_, logs = policy_of(optional_sealed, region)
    let = [as_text(each) for each in logs["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"]]
    for name, group in by_name(optional_sealed, "AWS::Logs::LogGroup"):
        stack, _, logical_id = name.partition("/")
        called = group["Properties"].get("LogGroupName", f"{stack}-{logical_id}-x")
        arn = f"arn:aws:logs:{region}:<AWS::AccountId>:log-group:{called}"
        assert [each for each in let if fnmatchcase(arn, each)], arn


def test_an_export_is_written_under_the_key_by_a_role_that_may_use_it(optional_sealed: Synthesized) -> None:
    ((_, schedule),) = by_name(optional_sealed, "AWS::Scheduler::Schedule")
    request = json.loads(as_text(schedule["Properties"]["Target"]["Input"]))
    key = "<SessionStore-dev-Key-us-east-1.PublishOutputFnGetAttKeyArn>"
    assert (request["S3SseAlgorithm"], request["S3SseKmsKeyId"]) == ("KMS", key)


@IN_EACH_REGION
@pytest.mark.parametrize("package", PACKAGES)
def test_a_function_may_use_its_regions_key_through_the_services_it_calls_alone(
    sealed: Synthesized, package: str, region: str
) -> None:
    used: dict[str, set[str]] = {}
    for statement in sealed.statements(sealed.function(package, region=region), region=region):
        named = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        if not [action for action in named if action.startswith("kms:")]:
            continue
        assert as_text(statement["Resource"]) == key_of(region)
        ((operator, condition),) = statement["Condition"].items()
        assert (operator, list(condition)) == ("StringEquals", ["kms:ViaService"])
        service = condition["kms:ViaService"].removesuffix(f".{region}.amazonaws.com")
        assert service not in used
        used[service] = set(named)
    assert used == USE[package]


@IN_EACH_REGION
def test_the_keys_policy_lets_in_the_account_its_alarms_and_its_logs(
    sealed: Synthesized, region: str
) -> None:
    account, alarms, logs = policy_of(sealed, region)
    assert (account["Action"], as_text(account["Principal"]["AWS"])) == (
        "kms:*",
        "arn:aws:iam::<AWS::AccountId>:root",
    )
    assert alarms["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
    assert set(alarms["Action"]) == {"kms:Decrypt", "kms:GenerateDataKey"}
    assert as_text(alarms["Condition"]["StringEquals"]["aws:SourceAccount"]) == "<AWS::AccountId>"
    source = alarms["Condition"]["ArnLike"]["aws:SourceArn"]
    assert as_text(source) == f"arn:aws:cloudwatch:{region}:<AWS::AccountId>:alarm:session-store-prod-*"
    assert logs["Principal"] == {"Service": f"logs.{region}.amazonaws.com"}
    assert set(logs["Action"]) == TABLE_USE
    context = logs["Condition"]["ArnLike"]["kms:EncryptionContext:aws:logs:arn"]
    groups = (
        f"SessionStore-prod-Regional-{region}-*",
        f"SessionStore-prod-Cache-{region}-*",
        "aws-waf-logs-session-store-prod",
    )
    place = f"arn:aws:logs:{region}:<AWS::AccountId>:log-group"
    assert [as_text(each) for each in context] == [f"{place}:{group}" for group in groups]


def test_no_role_of_any_stack_may_use_the_key_but_through_the_services_that_the_decision_names(
    optional_sealed: Synthesized,
) -> None:
    key = "<SessionStore-dev-Key-us-east-1.PublishOutputFnGetAttKeyArn>"
    roles = {
        **{optional_sealed.function(each)["Role"]["Fn::GetAtt"][0]: each for each in PACKAGES},
        **{role.rpartition("/")[2]: SCHEDULE for role in optional_sealed.of_stack("-Data", ROLE)},
    }
    found: set[tuple[str, str, frozenset[str]]] = set()
    for name, policy in by_name(optional_sealed, "AWS::IAM::Policy"):
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
            if "kms:" not in str(statement["Action"]):
                continue
            assert as_text(statement["Resource"]) == key
            ((operator, condition),) = statement["Condition"].items()
            assert (operator, list(condition)) == ("StringEquals", ["kms:ViaService"])
            ((role, *others),) = [[each["Ref"] for each in policy["Properties"]["Roles"]]]
            assert not others
            services, actions = condition["kms:ViaService"], statement["Action"]
            for service in [services] if isinstance(services, str) else services:
                named, _, rest = service.partition(".")
                assert rest == "us-east-1.amazonaws.com"
                who = CLUSTER if "-Cache-" in name else roles[role]
                told = frozenset([actions] if isinstance(actions, str) else actions)
                found.add((named, who, told))
    assert found == set(told_of())


ROLE = "AWS::IAM::Role"
SCHEDULE = "the schedule of `auditExport`"
CLUSTER = "the cluster of `daxNodes`"
DECISION = ROOT / "docs" / "decisions" / "0009-one-key-in-every-region.md"


def told_of() -> Iterator[tuple[str, str, frozenset[str]]]:
    """What the decision says: through which service who has what done with the key."""
    table = DECISION.read_text().partition("| through | who | actions |")[2].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        _, services, who, actions, _ = row.split("|")
        named = who.strip().removesuffix(", with `largePayloads`")
        everybody = PACKAGES if named == "every function on the tables" else named.split(", ")
        for service in services.lower().split(","):
            for each in everybody:
                told = frozenset(f"kms:{action}" for action in re.findall(r"`(\w+)`", actions))
                yield service.strip(), each, told
