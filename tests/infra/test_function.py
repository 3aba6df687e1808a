"""Each function is told all it needs, is traced, and logs to a group that forgets."""

from collections.abc import Mapping
from typing import Any

import pytest
from aws_cdk import Duration

from infra.api.function import TIMEOUT
from session_store.schema import Env
from tests.infra.conftest import PACKAGES, REGIONS, Synthesized, is_cdks_own

GATEWAY_TIMEOUT = Duration.seconds(29)
EACH_FUNCTION = pytest.mark.parametrize("package", PACKAGES)


def environment(synthesized: Synthesized, package: str, *, region: str = "us-east-1") -> Mapping[str, Any]:
    variables: Mapping[str, Any] = synthesized.function(package, region=region)["Environment"]["Variables"]
    return variables


def test_every_function_of_the_template_is_among_those_tested(every: Synthesized) -> None:
    for region in every.regions:
        handlers = [function["Handler"] for function in every.functions(region=region)]
        assert sorted(handlers) == sorted(f"{package}.handler.handler" for package in PACKAGES)


def test_only_replicas_have_a_function_more_which_looks_their_stream_up(every: Synthesized) -> None:
    for region in every.regions:
        found = every.resources("AWS::Lambda::Function", region=region)
        cdks = [name for name in found if is_cdks_own(name)]
        assert len(cdks) == (0 if region == every.regions[0] else 1)


def test_the_api_answers_before_the_gateway_gives_up(dev: Synthesized) -> None:
    timeout = dev.function("session_api")["Timeout"]
    assert timeout == TIMEOUT.to_seconds()
    assert timeout < GATEWAY_TIMEOUT.to_seconds()


def test_the_function_is_traced_and_logs_json_to_a_group_of_its_own(every: Synthesized) -> None:
    for function in every.functions():
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert function["LoggingConfig"]["LogFormat"] == "JSON"
        assert "Ref" in function["LoggingConfig"]["LogGroup"]


def test_every_log_group_forgets(every: Synthesized) -> None:
    groups = every.properties("AWS::Logs::LogGroup")
    assert groups
    kept = every.deployment.config.log_retention_days
    assert {group.get("RetentionInDays") for group in groups} == {kept}


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


def test_the_api_knows_how_callers_say_who_they_are(dev: Synthesized, bearer: Synthesized) -> None:
    assert environment(dev, "session_api")[Env.CALLERS] == "iam"
    assert environment(bearer, "session_api")[Env.CALLERS] == "jwt"


def test_only_the_emulator_decodes_the_path(dev: Synthesized, local: Synthesized) -> None:
    assert Env.GATEWAY_DECODES_PATH not in environment(dev, "session_api")
    assert environment(local, "session_api")[Env.GATEWAY_DECODES_PATH] == "true"
