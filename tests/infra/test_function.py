"""The function may do what it does and no more, and is told all it needs."""

from collections.abc import Iterator, Mapping
from typing import Any

from aws_cdk import Duration

from infra.api_function import TIMEOUT
from session_store.schema import Env
from session_store.settings import REGION_VARIABLE, read_settings
from tests.infra.conftest import REGIONS, Synthesized

GATEWAY_TIMEOUT = Duration.seconds(29)
WITHOUT_RESOURCES = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}
OF_POWERTOOLS = {
    "POWERTOOLS_LOG_LEVEL",
    "POWERTOOLS_METRICS_NAMESPACE",
    "POWERTOOLS_SERVICE_NAME",
    "POWERTOOLS_TRACE_DISABLED",
}
OPTIONAL = {Env.GATEWAY_DECODES_PATH}


def statements(synthesized: Synthesized) -> Iterator[tuple[set[str], str]]:
    """Actions and resource of every policy statement, one resource each."""
    for policy in synthesized.properties("AWS::IAM::Policy"):
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Effect"] == "Allow"
            actions = statement["Action"]
            resources = statement["Resource"]
            for resource in resources if isinstance(resources, list) else [resources]:
                yield set(actions) if isinstance(actions, list) else {actions}, _text(resource)


def _text(value: object) -> str:
    """An ARN as text, whatever function of CloudFormation makes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_text, value))
    if isinstance(value, dict):
        ((name, inner),) = value.items()
        return _text(inner[1]) if name == "Fn::Join" else f"<{_text(inner)}>"
    raise AssertionError(value)


def environment(synthesized: Synthesized, *, region: str = "us-east-1") -> Mapping[str, str]:
    (function,) = synthesized.properties("AWS::Lambda::Function", stack=f"Regional-{region}")
    variables: Mapping[str, Any] = function["Environment"]["Variables"]
    return variables


def test_no_action_is_a_wildcard(every: Synthesized) -> None:
    assert not [action for actions, _ in statements(every) for action in actions if "*" in action]


def test_only_tracing_reaches_every_resource(every: Synthesized) -> None:
    unbounded = {action for actions, resource in statements(every) if resource == "*" for action in actions}
    assert unbounded == WITHOUT_RESOURCES


def test_the_function_may_query_the_indexes_and_do_nothing_else_with_them(dev: Synthesized) -> None:
    (actions,) = (
        a for a, resource in statements(dev) if resource.endswith("table/session-store-dev/index/*")
    )
    assert actions == {"dynamodb:Query"}


def test_the_function_may_use_items_of_the_table_and_never_scan(dev: Synthesized) -> None:
    (actions,) = (a for a, resource in statements(dev) if resource.endswith("table/session-store-dev"))
    assert actions == {
        "dynamodb:BatchGetItem",
        "dynamodb:DeleteItem",
        "dynamodb:GetItem",
        "dynamodb:PutItem",
        "dynamodb:Query",
        "dynamodb:UpdateItem",
    }


def test_the_function_may_only_add_to_the_audit(dev: Synthesized) -> None:
    (actions,) = (a for a, resource in statements(dev) if resource.endswith("table/session-store-audit-dev"))
    assert actions == {"dynamodb:PutItem"}


def test_each_region_has_its_function_reach_the_tables_beside_it(prod: Synthesized) -> None:
    tables = {resource for _, resource in statements(prod) if resource.endswith("table/session-store-prod")}
    assert {arn.split(":")[3] for arn in tables} == set(REGIONS)


def test_the_functions_role_has_no_managed_policy(dev: Synthesized) -> None:
    (role,) = (
        role for role in dev.properties("AWS::IAM::Role") if "lambda" in str(role["AssumeRolePolicyDocument"])
    )
    assert "ManagedPolicyArns" not in role


def test_the_function_answers_before_the_gateway_gives_up(dev: Synthesized) -> None:
    (function,) = dev.properties("AWS::Lambda::Function")
    assert function["Timeout"] == TIMEOUT.to_seconds()
    assert function["Timeout"] < GATEWAY_TIMEOUT.to_seconds()


def test_the_function_is_traced_and_logs_json_to_a_group_of_its_own(every: Synthesized) -> None:
    for function in every.properties("AWS::Lambda::Function"):
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert function["LoggingConfig"]["LogFormat"] == "JSON"
        assert "Ref" in function["LoggingConfig"]["LogGroup"]


def test_every_log_group_forgets(every: Synthesized) -> None:
    groups = every.properties("AWS::Logs::LogGroup")
    assert groups
    assert {group.get("RetentionInDays") for group in groups} == {30}


class Recording(dict[str, str]):
    """Variables that remember which of them were asked for."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(variables)
        self.asked: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


def test_what_is_set_is_read_and_what_is_read_is_set(every: Synthesized) -> None:
    variables = {name: str(value) for name, value in environment(every).items()}
    recording = Recording({**variables, REGION_VARIABLE: "us-east-1"})
    read_settings(recording)
    assert set(variables) - OF_POWERTOOLS <= recording.asked
    assert recording.asked - {REGION_VARIABLE} - OPTIONAL <= set(variables)
    assert recording.asked == {*Env, REGION_VARIABLE}


def test_the_environment_says_what_the_configuration_said(prod: Synthesized) -> None:
    for region in REGIONS:
        variables = environment(prod, region=region)
        assert variables[Env.TABLE_NAME] == "session-store-prod"
        assert variables[Env.AUDIT_TABLE_NAME] == "session-store-audit-prod"
        assert variables[Env.REGIONS] == ",".join(REGIONS)
        assert variables[Env.DELEGATES] == "111122223333:role/gateway"
        assert variables[Env.STATUS_SHARDS] == "4"
        assert variables[Env.AUDIT_RETENTION_DAYS] == "90"


def test_only_the_emulator_decodes_the_path(dev: Synthesized, local: Synthesized) -> None:
    assert Env.GATEWAY_DECODES_PATH not in environment(dev)
    assert environment(local)[Env.GATEWAY_DECODES_PATH] == "true"
