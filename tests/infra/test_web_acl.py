"""The web ACL: what it blocks, what it only counts, and what it never writes down."""

from collections.abc import Mapping
from typing import Any

import pytest

from infra.api.rest_api import STAGE_NAME
from infra.api.routes import routes
from infra.api.web_acl import GROUPS, SECRET_HEADERS
from session_store.domain.identifiers import MAX_TOOL_CALL_ID
from tests.infra.conftest import Synthesized, as_text

LONGEST_SESSION_ID = 45


@pytest.fixture(scope="module")
def acl(optional: Synthesized) -> Mapping[str, Any]:
    (acl,) = optional.properties("AWS::WAFv2::WebACL")
    return acl


@pytest.fixture(scope="module")
def logging(optional: Synthesized) -> Mapping[str, Any]:
    (logging,) = optional.properties("AWS::WAFv2::LoggingConfiguration")
    return logging


def counted(acl: Mapping[str, Any], group: str) -> set[str]:
    (rule,) = (one for one in acl["Rules"] if one["Name"] == group)
    overrides = rule["Statement"]["ManagedRuleGroupStatement"].get("RuleActionOverrides", [])
    assert all(override["ActionToUse"] == {"Count": {}} for override in overrides)
    return {override["Name"] for override in overrides}


def test_it_stands_before_the_stage_where_it_is_asked_for(optional: Synthesized, dev: Synthesized) -> None:
    (association,) = optional.properties("AWS::WAFv2::WebACLAssociation", region="us-east-1")
    stage = as_text(association["ResourceArn"])
    assert ":apigateway:us-east-1::/restapis/<RestApi>/stages/<RestApiDeploymentStagev" in stage
    assert dev.properties("AWS::WAFv2::WebACL") == []


def test_production_has_one_in_every_region(prod: Synthesized) -> None:
    for region in prod.regions:
        assert len(prod.properties("AWS::WAFv2::WebACLAssociation", region=region)) == 1


def test_whatever_no_rule_blocks_is_let_through(acl: Mapping[str, Any]) -> None:
    assert (acl["Scope"], acl["DefaultAction"]) == ("REGIONAL", {"Allow": {}})


def test_an_address_is_blocked_above_its_rate(acl: Mapping[str, Any]) -> None:
    first = min(acl["Rules"], key=lambda rule: int(rule["Priority"]))
    assert first["Action"] == {"Block": {}}
    assert first["Statement"] == {
        "RateBasedStatement": {"AggregateKeyType": "IP", "Limit": 10_000, "EvaluationWindowSec": 300}
    }


def test_the_managed_groups_follow_in_their_order_and_decide_by_themselves(acl: Mapping[str, Any]) -> None:
    rules = sorted(acl["Rules"], key=lambda rule: int(rule["Priority"]))
    assert [rule["Name"] for rule in rules[1:]] == list(GROUPS)
    assert all(rule["OverrideAction"] == {"None": {}} for rule in rules[1:])


def test_no_rule_about_bodies_and_paths_blocks(acl: Mapping[str, Any]) -> None:
    """A body of up to 1 MB, code in it, and call ids in paths are what callers send."""
    assert counted(acl, "AWSManagedRulesCommonRuleSet") == {
        "CrossSiteScripting_BODY",
        "EC2MetaDataSSRF_BODY",
        "EC2MetaDataSSRF_URIPATH",
        "GenericLFI_BODY",
        "GenericLFI_URIPATH",
        "GenericRFI_BODY",
        "GenericRFI_URIPATH",
        "NoUserAgent_HEADER",
        "RestrictedExtensions_URIPATH",
        "SizeRestrictions_BODY",
    }
    assert counted(acl, "AWSManagedRulesKnownBadInputsRuleSet") == {
        "ExploitablePaths_URIPATH",
        "JavaDeserializationRCE_BODY",
        "JavaDeserializationRCE_URIPATH",
        "Log4JRCE_BODY",
        "Log4JRCE_URIPATH",
        "ReactJSRCE_BODY",
    }
    assert counted(acl, "AWSManagedRulesAmazonIpReputationList") == set()


def test_the_longest_path_is_shorter_than_what_is_blocked() -> None:
    """``SizeRestrictions_URIPATH`` blocks; every character of a tool call's id may be percent-encoded."""
    longest = max(len(f"/{STAGE_NAME}{route.path}") for route in routes())
    assert longest + 3 * MAX_TOOL_CALL_ID + 3 * LONGEST_SESSION_ID < 1024


def test_every_rule_has_a_metric_and_no_samples(acl: Mapping[str, Any]) -> None:
    shown = [acl["VisibilityConfig"], *(rule["VisibilityConfig"] for rule in acl["Rules"])]
    assert all(one["CloudWatchMetricsEnabled"] and not one["SampledRequestsEnabled"] for one in shown)
    assert len({one["MetricName"] for one in shown}) == len(shown)


def test_nothing_of_a_body_and_no_secret_is_written_down(
    acl: Mapping[str, Any], logging: Mapping[str, Any]
) -> None:
    protected = acl["DataProtectionConfig"]["DataProtections"]
    assert {(one["Field"]["FieldType"], one["Action"]) for one in protected} == {
        ("BODY", "SUBSTITUTION"),
        ("SINGLE_HEADER", "SUBSTITUTION"),
    }
    redacted = [field.get("SingleHeader", {}).get("Name") for field in logging["RedactedFields"]]
    assert {name for name in redacted if name} == set(SECRET_HEADERS) >= {"authorization"}
    assert {"UriPath": {}} in logging["RedactedFields"]
    assert {"QueryString": {}} in logging["RedactedFields"]


def test_only_what_is_blocked_is_logged_for_as_long_as_other_logs(
    optional: Synthesized, logging: Mapping[str, Any]
) -> None:
    assert logging["LoggingFilter"]["DefaultBehavior"] == "DROP"
    (kept,) = logging["LoggingFilter"]["Filters"]
    assert kept["Conditions"] == [{"ActionCondition": {"Action": "BLOCK"}}]
    names = {
        group["LogGroupName"]: group["RetentionInDays"]
        for group in optional.properties("AWS::Logs::LogGroup")
        if "LogGroupName" in group
    }
    assert names == {"aws-waf-logs-session-store-dev": 7}
    (destination,) = logging["LogDestinationConfigs"]
    assert as_text(destination).endswith(":log-group:<WebAclLogs>")
