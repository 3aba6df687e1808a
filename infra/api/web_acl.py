"""The web ACL in front of a region's API: which requests it blocks, and which it only counts."""

from typing import Final

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_logs as logs
from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

from infra import names
from infra.config import Config
from infra.logged_function import Shared

BODY_RULES: Final = {
    "AWSManagedRulesKnownBadInputsRuleSet": (
        "JavaDeserializationRCE_BODY",
        "Log4JRCE_BODY",
        "ReactJSRCE_BODY",
    ),
    "AWSManagedRulesCommonRuleSet": (
        "SizeRestrictions_BODY",
        "EC2MetaDataSSRF_BODY",
        "GenericLFI_BODY",
        "GenericRFI_BODY",
        "CrossSiteScripting_BODY",
    ),
}
"""Rules about bodies: agents store code, markup, addresses and logs, up to 1 MB."""

PATH_RULES: Final = {
    "AWSManagedRulesKnownBadInputsRuleSet": (
        "ExploitablePaths_URIPATH",
        "JavaDeserializationRCE_URIPATH",
        "Log4JRCE_URIPATH",
    ),
    "AWSManagedRulesCommonRuleSet": (
        "EC2MetaDataSSRF_URIPATH",
        "GenericLFI_URIPATH",
        "GenericRFI_URIPATH",
        "RestrictedExtensions_URIPATH",
    ),
}
"""Rules about paths: callers choose the ids of tool calls, and ``build.log`` is a valid one."""

HEADER_RULES: Final = {"AWSManagedRulesCommonRuleSet": ("NoUserAgent_HEADER",)}
"""A signed request may omit its User-Agent."""

GROUPS: Final = (
    "AWSManagedRulesAmazonIpReputationList",
    "AWSManagedRulesKnownBadInputsRuleSet",
    "AWSManagedRulesCommonRuleSet",
)
"""In order of evaluation."""

RATE_WINDOW_SECONDS: Final = 300
SECRET_HEADERS: Final = ("authorization", "x-amz-security-token", "session-subject", "idempotency-key")


def counted(group: str) -> tuple[str, ...]:
    """The rules of a managed group that only count."""
    return tuple(name for rules in (BODY_RULES, PATH_RULES, HEADER_RULES) for name in rules.get(group, ()))


class WebAcl(Construct):
    """Evaluated before API Gateway verifies anything; the gateway answers blocked requests with a problem."""

    def __init__(
        self, scope: Construct, construct_id: str, *, shared: Shared, stage: apigateway.Stage
    ) -> None:
        super().__init__(scope, construct_id)
        config = shared.config
        name = f"session-store-{config.stage}"
        self.acl = wafv2.CfnWebACL(
            self,
            "Acl",
            name=name,
            description="Session store: before the API",
            scope="REGIONAL",
            default_action=wafv2.CfnWebACL.DefaultActionProperty(allow={}),
            visibility_config=_visible(name),
            rules=[_rate(config), *(_managed(group, at) for at, group in enumerate(GROUPS, start=1))],
            data_protection_config=_protection(),
        )
        wafv2.CfnWebACLAssociation(
            self, "OfTheStage", resource_arn=stage.stage_arn, web_acl_arn=self.acl.attr_arn
        )
        log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=names.web_acl_logs(config.stage),
            encryption_key=shared.key,
            retention=config.log_retention,
            # Its name is fixed: a retained log group would block the next deployment.
            removal_policy=RemovalPolicy.DESTROY,
        )
        _log(self, self.acl, to=log_group)


def _rate(config: Config) -> wafv2.CfnWebACL.RuleProperty:
    return wafv2.CfnWebACL.RuleProperty(
        name="rate-of-an-address",
        priority=0,
        action=wafv2.CfnWebACL.RuleActionProperty(block={}),
        visibility_config=_visible("rate-of-an-address"),
        statement=wafv2.CfnWebACL.StatementProperty(
            rate_based_statement=wafv2.CfnWebACL.RateBasedStatementProperty(
                aggregate_key_type="IP",
                limit=config.web_acl_rate,
                evaluation_window_sec=RATE_WINDOW_SECONDS,
            )
        ),
    )


def _managed(group: str, priority: int) -> wafv2.CfnWebACL.RuleProperty:
    count = wafv2.CfnWebACL.RuleActionProperty(count={})
    return wafv2.CfnWebACL.RuleProperty(
        name=group,
        priority=priority,
        override_action=wafv2.CfnWebACL.OverrideActionProperty(none={}),
        visibility_config=_visible(group),
        statement=wafv2.CfnWebACL.StatementProperty(
            managed_rule_group_statement=wafv2.CfnWebACL.ManagedRuleGroupStatementProperty(
                vendor_name="AWS",
                name=group,
                rule_action_overrides=[
                    wafv2.CfnWebACL.RuleActionOverrideProperty(name=rule, action_to_use=count)
                    for rule in counted(group)
                ],
            )
        ),
    )


def _visible(name: str) -> wafv2.CfnWebACL.VisibilityConfigProperty:
    """Metrics without samples: samples would expose paths and headers of requests."""
    return wafv2.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True, metric_name=name, sampled_requests_enabled=False
    )


def _protection() -> wafv2.CfnWebACL.DataProtectionConfigProperty:
    """Logs of a match in a body contain the matched text, so it is replaced before anything is logged."""
    fields = [
        wafv2.CfnWebACL.FieldToProtectProperty(field_type="BODY"),
        wafv2.CfnWebACL.FieldToProtectProperty(field_type="SINGLE_HEADER", field_keys=list(SECRET_HEADERS)),
    ]
    return wafv2.CfnWebACL.DataProtectionConfigProperty(
        data_protections=[
            wafv2.CfnWebACL.DataProtectProperty(action="SUBSTITUTION", field=field) for field in fields
        ]
    )


def _log(scope: Construct, acl: wafv2.CfnWebACL, *, to: logs.ILogGroup) -> None:
    """Log blocked requests, without callers' values in paths, as in the access logs."""
    hidden = wafv2.CfnLoggingConfiguration.FieldToMatchProperty
    stack = Stack.of(scope)
    blocked = {"ActionCondition": {"Action": "BLOCK"}}
    wafv2.CfnLoggingConfiguration(
        scope,
        "Logging",
        resource_arn=acl.attr_arn,
        # Without the `:*` at the end of the log group's own ARN attribute.
        log_destination_configs=[
            stack.format_arn(
                service="logs",
                resource="log-group",
                resource_name=to.log_group_name,
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
        ],
        redacted_fields=[
            hidden(uri_path={}),
            hidden(query_string={}),
            *(hidden(single_header={"Name": header}) for header in SECRET_HEADERS),
        ],
        logging_filter={
            "DefaultBehavior": "DROP",
            "Filters": [{"Behavior": "KEEP", "Conditions": [blocked], "Requirement": "MEETS_ANY"}],
        },
    )
