"""Where callers show tokens, an authorizer stands before every route that is not open, and may only log."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from infra.bundling import TOKEN_LOCK
from session_store.schema import JwtEnv
from tests.infra.conftest import Synthesized, as_text
from tests.infra.test_api import methods


def authorizer(synthesized: Synthesized) -> Mapping[str, Any]:
    (found,) = synthesized.properties("AWS::ApiGateway::Authorizer")
    return found


def test_every_method_but_health_stands_behind_the_authorizer(bearer: Synthesized) -> None:
    ((_, only),) = [
        name.split("/") for name in bearer.resources("AWS::ApiGateway::Authorizer", region="us-east-1")
    ]
    for route, method in methods(bearer).items():
        if route == ("GET", "/health"):
            assert method["AuthorizationType"] == "NONE"
            assert "AuthorizerId" not in method
        else:
            assert (method["AuthorizationType"], method["AuthorizerId"]) == ("CUSTOM", {"Ref": only}), route


def test_signed_and_bearing_apis_have_the_same_methods(dev: Synthesized, bearer: Synthesized) -> None:
    assert set(methods(dev)) == set(methods(bearer))
    assert dev.properties("AWS::ApiGateway::Authorizer") == []


def test_no_judgement_is_kept(bearer: Synthesized) -> None:
    found = authorizer(bearer)
    assert (found["Type"], found["AuthorizerResultTtlInSeconds"]) == ("TOKEN", 0)
    assert found["IdentitySource"] == "method.request.header.Authorization"


@pytest.mark.parametrize("header", ["Bearer a.b.c", "bearer eyJ-_9.eyJ.sig", "BEARER a.b.c"])
def test_what_has_the_form_of_a_signed_token_is_judged(bearer: Synthesized, header: str) -> None:
    assert re.search(authorizer(bearer)["IdentityValidationExpression"], header)


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer a", "Bearer a.b.", "Bearer a.b.c.d.e", "Basic a.b.c", "Bearer  a.b.c", "a.b.c"],
)
def test_what_has_not_starts_no_function(bearer: Synthesized, header: str) -> None:
    assert not re.search(authorizer(bearer)["IdentityValidationExpression"], header)


def test_the_authorizer_may_log_and_be_traced_and_knows_no_table(bearer: Synthesized) -> None:
    assert bearer.allowed("authorizer") == {
        "*": {"xray:PutTelemetryRecords", "xray:PutTraceSegments"},
        "<AuthorizerLogs.Arn>": {"logs:CreateLogStream", "logs:PutLogEvents"},
    }
    variables = bearer.function("authorizer")["Environment"]["Variables"]
    assert {name for name in variables if not name.startswith("POWERTOOLS_")} == {*JwtEnv} - {
        JwtEnv.ON_LOOPBACK
    }


def test_the_authorizer_is_told_whom_to_believe(bearer: Synthesized) -> None:
    variables = bearer.function("authorizer")["Environment"]["Variables"]
    assert variables[JwtEnv.ISSUER] == "https://issuer.example/"
    assert variables[JwtEnv.AUDIENCE] == "session-store,another"
    assert variables[JwtEnv.JWKS_URI] == "https://issuer.example/.well-known/jwks.json"
    assert variables[JwtEnv.ALGORITHMS] == "RS256,EdDSA"
    assert variables[JwtEnv.ORGANISATION_CLAIM] == "org_id"


def test_it_logs_to_a_group_of_its_own_that_forgets(bearer: Synthesized) -> None:
    group = bearer.function("authorizer")["LoggingConfig"]["LogGroup"]
    assert as_text(group) == "<AuthorizerLogs>"
    groups = bearer.properties("AWS::Logs::LogGroup", region="us-east-1")
    assert {each["RetentionInDays"] for each in groups} == {bearer.deployment.config.log_retention_days}


def test_it_alone_has_the_layer_that_verifies(bearer: Synthesized) -> None:
    assert TOKEN_LOCK.exists()
    layers = {function["Handler"]: len(function["Layers"]) for function in bearer.functions()}
    assert {handler for handler, count in layers.items() if count == 2} == {"authorizer.handler.handler"}
    assert set(layers.values()) == {1, 2}


def test_the_resource_policy_opens_health_and_nothing_that_an_authorizer_judges(bearer: Synthesized) -> None:
    (api,) = bearer.properties("AWS::ApiGateway::RestApi", region="us-east-1")
    (statement,) = api["Policy"]["Statement"]
    assert statement["Resource"] == "execute-api:/v1/GET/health"


def test_a_caller_without_a_token_is_told_what_to_show(bearer: Synthesized) -> None:
    shown = {
        response["ResponseType"]: response["ResponseParameters"].get(
            "gatewayresponse.header.WWW-Authenticate"
        )
        for response in bearer.properties("AWS::ApiGateway::GatewayResponse")
    }
    assert {kind for kind, challenge in shown.items() if challenge} == {"UNAUTHORIZED"}
    assert shown["UNAUTHORIZED"] == "'Bearer'"


def test_what_the_authorizer_counts_has_a_panel(bearer: Synthesized) -> None:
    (board,) = bearer.properties("AWS::CloudWatch::Dashboard")
    body = as_text(board["DashboardBody"])
    for name in ("TokensAccepted", "TokensRefused", "IssuerUnavailable", "AuthorizerCrashed"):
        assert name in body
    assert "session-store-dev-authorizer" in body
