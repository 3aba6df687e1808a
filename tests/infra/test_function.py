"""Each function may do what it does and no more, and is told all it needs."""

from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import Duration

from infra.api_function import TIMEOUT
from session_store.schema import BusEnv, CleanupEnv, Env, RedriveEnv, StreamEnv, WatchEnv
from tests.infra.conftest import PACKAGES, REGIONS, Synthesized

GATEWAY_TIMEOUT = Duration.seconds(29)
TRACING = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
WITHOUT_RESOURCES = {
    "session_api": TRACING,
    "audit_consumer": {*TRACING, "dynamodb:ListStreams"},
    "expiry_cleanup": TRACING,
    "expiry_watch": TRACING,
}
"""Actions that know no resource."""

OF_POWERTOOLS = {
    "POWERTOOLS_LOG_LEVEL",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_SERVICE_NAME",
    "POWERTOOLS_TRACE_DISABLED",
}
READ: Mapping[str, set[str]] = {
    "session_api": {*Env, *RedriveEnv, StreamEnv.CLEANUP_QUEUE_URL, StreamEnv.QUARANTINE_BUCKET},
    "audit_consumer": {*Env, *StreamEnv},
    "expiry_cleanup": {*Env, *BusEnv, *CleanupEnv},
    "expiry_watch": {*Env, *BusEnv, *WatchEnv},
}
OPTIONAL = {
    Env.DELEGATES,
    Env.GATEWAY_DECODES_PATH,
    CleanupEnv.REVOCATION_ENDPOINT,
    CleanupEnv.REVOCATION_CLIENT_SECRET,
    CleanupEnv.REVOCATION_ON_LOOPBACK,
    CleanupEnv.PAYLOAD_BUCKET,
}
EACH_FUNCTION = pytest.mark.parametrize("package", PACKAGES)


def environment(synthesized: Synthesized, package: str, *, region: str = "us-east-1") -> Mapping[str, Any]:
    variables: Mapping[str, Any] = synthesized.function(package, region=region)["Environment"]["Variables"]
    return variables


def named(allowed: Mapping[str, set[str]], end: str) -> set[str]:
    """The actions on the one resource whose ARN ends so."""
    (actions,) = (actions for resource, actions in allowed.items() if resource.endswith(end))
    return actions


def test_every_function_of_the_template_is_among_those_tested(dev: Synthesized) -> None:
    handlers = {function["Handler"] for function in dev.properties("AWS::Lambda::Function")}
    assert handlers == {f"{package}.handler.handler" for package in PACKAGES}


@EACH_FUNCTION
def test_no_action_is_a_wildcard(every: Synthesized, package: str) -> None:
    for actions in every.allowed(package).values():
        assert not [action for action in actions if "*" in action]


@EACH_FUNCTION
def test_only_what_knows_no_resource_reaches_every_one(every: Synthesized, package: str) -> None:
    local = {"dynamodb:GetRecords", "dynamodb:GetShardIterator"}
    assert every.allowed(package)["*"] - local == WITHOUT_RESOURCES[package]


@EACH_FUNCTION
def test_no_function_scans_and_who_reads_an_index_queries_it(dev: Synthesized, package: str) -> None:
    allowed = dev.allowed(package)
    assert not [actions for actions in allowed.values() if "dynamodb:Scan" in actions]
    indexes = [actions for resource, actions in allowed.items() if "/index/" in resource]
    assert all(actions == {"dynamodb:Query"} for actions in indexes)


def test_the_api_may_use_items_of_the_table_and_add_to_the_audit(dev: Synthesized) -> None:
    allowed = dev.allowed("session_api")
    assert named(allowed, "table/session-store-dev") == {
        "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
    }
    assert named(allowed, "table/session-store-dev/index/*") == {"dynamodb:Query"}
    assert named(allowed, "table/session-store-audit-dev") == {"dynamodb:PutItem", "dynamodb:Query"}


def test_the_clean_up_may_erase_and_tell_and_read_secrets_below_one_prefix(dev: Synthesized) -> None:
    allowed = dev.allowed("expiry_cleanup")
    assert named(allowed, "table/session-store-dev") == {
        "dynamodb:BatchWriteItem",
        "dynamodb:GetItem",
        "dynamodb:Query",
    }
    assert named(allowed, "table/session-store-audit-dev") == {
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
    }
    secrets = {
        resource for resource, actions in allowed.items() if "secretsmanager:GetSecretValue" in actions
    }
    (secret,) = secrets
    assert secret.endswith(":secret:session-store/dev/*")
    assert allowed[secret] == {"secretsmanager:GetSecretValue"}
    assert not [resource for resource in allowed if "/index/" in resource]


def test_the_watch_may_look_into_the_index_mark_and_tell(dev: Synthesized) -> None:
    allowed = dev.allowed("expiry_watch")
    assert named(allowed, "table/session-store-dev") == {"dynamodb:UpdateItem"}
    assert named(allowed, "table/session-store-dev/index/*") == {"dynamodb:Query"}
    assert not [resource for resource in allowed if "audit" in resource]


@pytest.mark.parametrize("package", ["expiry_cleanup", "expiry_watch"])
def test_who_tells_may_tell_on_our_bus_alone(dev: Synthesized, package: str) -> None:
    told = {resource for resource, actions in dev.allowed(package).items() if "events:PutEvents" in actions}
    (bus,) = told
    assert bus.startswith("<Events")


@EACH_FUNCTION
def test_each_region_has_its_function_reach_the_tables_beside_it(prod: Synthesized, package: str) -> None:
    for region in REGIONS:
        tables = [resource for resource in prod.allowed(package, region=region) if ":dynamodb:" in resource]
        assert tables
        assert {arn.split(":")[3] for arn in tables} == {region}


def test_no_role_of_a_function_has_a_managed_policy(dev: Synthesized) -> None:
    roles = [
        role for role in dev.properties("AWS::IAM::Role") if "lambda" in str(role["AssumeRolePolicyDocument"])
    ]
    assert len(roles) == len(PACKAGES)
    assert not [role for role in roles if "ManagedPolicyArns" in role]


def test_the_api_answers_before_the_gateway_gives_up(dev: Synthesized) -> None:
    timeout = dev.function("session_api")["Timeout"]
    assert timeout == TIMEOUT.to_seconds()
    assert timeout < GATEWAY_TIMEOUT.to_seconds()


def test_the_function_is_traced_and_logs_json_to_a_group_of_its_own(every: Synthesized) -> None:
    for function in every.properties("AWS::Lambda::Function"):
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert function["LoggingConfig"]["LogFormat"] == "JSON"
        assert "Ref" in function["LoggingConfig"]["LogGroup"]


def test_every_log_group_forgets(every: Synthesized) -> None:
    groups = every.properties("AWS::Logs::LogGroup")
    assert groups
    assert {group.get("RetentionInDays") for group in groups} == {30}


@EACH_FUNCTION
def test_every_variable_has_a_reader(every: Synthesized, package: str) -> None:
    assert set(environment(every, package)) <= READ[package] | OF_POWERTOOLS


@EACH_FUNCTION
def test_every_variable_that_a_function_needs_is_set(every: Synthesized, package: str) -> None:
    assert READ[package] - OPTIONAL <= set(environment(every, package))


@EACH_FUNCTION
def test_the_environment_says_what_the_configuration_said(prod: Synthesized, package: str) -> None:
    for region in REGIONS:
        variables = environment(prod, package, region=region)
        assert variables[Env.TABLE_NAME] == "session-store-prod"
        assert variables[Env.AUDIT_TABLE_NAME] == "session-store-audit-prod"
        assert variables[Env.REGIONS] == ",".join(REGIONS)
        assert variables[Env.STATUS_SHARDS] == "4"
        assert variables[Env.AUDIT_RETENTION_DAYS] == "90"
        assert variables["POWERTOOLS_SERVICE_NAME"] == package.replace("_", "-")


def test_the_api_knows_the_delegates(prod: Synthesized) -> None:
    assert environment(prod, "session_api")[Env.DELEGATES] == "111122223333:role/gateway"


def test_only_the_emulator_decodes_the_path(dev: Synthesized, local: Synthesized) -> None:
    assert Env.GATEWAY_DECODES_PATH not in environment(dev, "session_api")
    assert environment(local, "session_api")[Env.GATEWAY_DECODES_PATH] == "true"
