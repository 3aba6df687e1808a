"""The API in the template is the API in docs/openapi.json, and nothing reaches it unsigned."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from infra.api.gateway_responses import PROBLEMS
from infra.api.rest_api import STAGE_NAME
from infra.api.routes import DOCUMENT, routes
from session_api import problems
from tests.infra.conftest import REGIONS, Synthesized

CATCH_ALL = {("ANY", "/"), ("ANY", "/{proxy+}")}


Method = Mapping[str, Any]


def methods(synthesized: Synthesized, *, region: str = "us-east-1") -> Mapping[tuple[str, str], Method]:
    """The methods of the API in one region, by verb and path."""
    (file,) = (file for file in synthesized.files if file.name.endswith(f"Regional-{region}.template.json"))
    resources = json.loads(file.read_text())["Resources"]

    def path(reference: Mapping[str, Any]) -> str:
        if "Ref" not in reference:
            return ""
        resource = resources[reference["Ref"]]["Properties"]
        return f"{path(resource['ParentId'])}/{resource['PathPart']}"

    found = (r["Properties"] for r in resources.values() if r["Type"] == "AWS::ApiGateway::Method")
    return {(method["HttpMethod"], path(method["ResourceId"]) or "/"): method for method in found}


def documented() -> set[tuple[str, str]]:
    paths = json.loads(DOCUMENT.read_text())["paths"]
    return {(verb.upper(), path) for path, verbs in paths.items() for verb in verbs}


@pytest.mark.parametrize("region", REGIONS)
def test_every_documented_route_is_a_method_and_there_is_no_other(prod: Synthesized, region: str) -> None:
    assert set(methods(prod, region=region)) - CATCH_ALL == documented()


def test_an_unknown_path_is_answered_by_the_function(dev: Synthesized) -> None:
    assert set(methods(dev)) >= CATCH_ALL


def test_every_method_but_health_is_signed(dev: Synthesized) -> None:
    unsigned = {route for route, method in methods(dev).items() if method["AuthorizationType"] != "AWS_IAM"}
    assert unsigned == {("GET", "/health")}


def test_a_method_that_needs_a_body_demands_a_json_object(dev: Synthesized) -> None:
    validated = {route for route, method in methods(dev).items() if "RequestValidatorId" in method}
    assert validated == {(route.method, route.path) for route in routes() if route.takes_body}
    for route in validated:
        assert set(methods(dev)[route]["RequestModels"]) == {"application/json"}
    (model,) = dev.properties("AWS::ApiGateway::Model")
    assert model["Schema"]["type"] == "object"
    assert "required" not in model["Schema"]


def test_one_permission_lets_the_api_call_the_function(dev: Synthesized) -> None:
    callers = [permission["Principal"] for permission in dev.properties("AWS::Lambda::Permission")]
    assert callers.count("apigateway.amazonaws.com") == 1


def test_the_stage_is_named_by_the_contract_version_traced_and_throttled(dev: Synthesized) -> None:
    (stage,) = dev.properties("AWS::ApiGateway::Stage")
    (settings,) = stage["MethodSettings"]
    assert stage["StageName"] == STAGE_NAME == "v1"
    assert stage["TracingEnabled"]
    assert (settings["ThrottlingRateLimit"], settings["ThrottlingBurstLimit"]) == (500, 1000)


def test_access_logs_are_json_without_secrets_and_paths(dev: Synthesized) -> None:
    (stage,) = dev.properties("AWS::ApiGateway::Stage")
    logged = json.loads(stage["AccessLogSetting"]["Format"])
    assert logged["resourcePath"] == "$context.resourcePath"
    said = set(logged.values())
    assert not said & {"$context.path", "$context.identity.accessKey", "$context.identity.apiKey"}


def test_the_api_is_regional(dev: Synthesized) -> None:
    (api,) = dev.properties("AWS::ApiGateway::RestApi")
    assert api["EndpointConfiguration"]["Types"] == ["REGIONAL"]


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_what_the_gateway_answers_by_itself_is_a_problem(dev: Synthesized, name: str) -> None:
    (response,) = (r for r in dev.properties("AWS::ApiGateway::GatewayResponse") if r["ResponseType"] == name)
    content_type = response["ResponseParameters"]["gatewayresponse.header.Content-Type"]
    assert content_type == "'application/problem+json'"
    rendered = response["ResponseTemplates"]["application/json"].replace(
        "$context.error.messageString", '"a \\"quoted\\" message"'
    )
    problem = json.loads(rendered)
    assert set(problem) == {"type", "title", "status", "detail", "instance"}
    assert str(problem["status"]) == response["StatusCode"]
    assert problem["instance"] == "$context.requestId"


@pytest.mark.parametrize(
    ("name", "slug", "status"),
    [
        ("MISSING_AUTHENTICATION_TOKEN", "unauthenticated", 401),
        ("INVALID_SIGNATURE", "unauthenticated", 401),
        ("EXPIRED_TOKEN", "unauthenticated", 401),
        ("DEFAULT_4XX", "unauthenticated", 401),
        ("ACCESS_DENIED", "forbidden", 403),
        ("RESOURCE_NOT_FOUND", "not-found", 404),
        ("REQUEST_TOO_LARGE", "payload-too-large", 413),
        ("THROTTLED", "throttled", 429),
        ("BAD_REQUEST_BODY", "invalid-request", 400),
        ("INTEGRATION_TIMEOUT", "internal", 504),
        ("DEFAULT_5XX", "internal", 500),
    ],
)
def test_the_gateways_problems_bear_the_contracts_names(name: str, slug: str, status: int) -> None:
    assert (PROBLEMS[name].slug, PROBLEMS[name].status) == (slug, status)


def test_the_gateway_and_the_function_give_a_problem_the_same_title() -> None:
    """A slug has one title. Statuses differ where the gateway speaks of itself (429, 504)."""
    titles = {problem.slug: problem.title for problem in [*problems.PROBLEMS.values(), problems.INTERNAL]}
    assert {problem.slug for problem in PROBLEMS.values()} <= set(titles)
    assert {(problem.slug, problem.title) for problem in PROBLEMS.values()} == {
        (problem.slug, titles[problem.slug]) for problem in PROBLEMS.values()
    }


def test_metrics_by_route_are_paid_for_in_production_alone(dev: Synthesized, prod: Synthesized) -> None:
    def measured(synthesized: Synthesized) -> set[bool]:
        stages = synthesized.properties("AWS::ApiGateway::Stage")
        return {settings["MetricsEnabled"] for stage in stages for settings in stage["MethodSettings"]}

    assert (measured(dev), measured(prod)) == ({False}, {True})
