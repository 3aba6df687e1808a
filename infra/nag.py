"""cdk-nag over every stack, and each finding that we accept with the reason why.

Removing one entry makes the synthesis fail; a test does just that.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, cast

from aws_cdk import Acknowledgment, App, Stack, Validations
from cdk_nag import AwsSolutionsChecks

from infra.audit_export import PREFIX
from infra.config import Config
from infra.config_values import Encryption
from infra.data_stack import DataStack
from infra.regional_stack import RegionalStack
from session_store.schema import QUARANTINE_PREFIX, Callers

if TYPE_CHECKING:
    from aws_cdk import CfnElement


NO_ACCESS_LOG: Final = (
    "A log of each access would be one more bucket of who did what, kept and paid for by everybody; "
    "who has to prove who read switches on CloudTrail's data events, which are off by default."
)


def acknowledged(stack: Stack, *, config: Config) -> dict[str, str]:
    """The findings in a stack that stand, by id, each with its reason."""
    match stack:
        case DataStack():
            return _of_data(stack, config=config)
        case RegionalStack():
            return _of_region(stack, config=config)
        case _:
            return {}


def _of_data(stack: DataStack, *, config: Config) -> dict[str, str]:
    reasons: dict[str, str] = {}
    if stack.changes is not None and config.encryption is Encryption.CUSTOMER_MANAGED:
        reasons["AwsSolutions-KDS3"] = "The key is one of the account owner's own, as everywhere."
    export = stack.audit_export
    if export is not None:
        bucket = stack.get_logical_id(cast("CfnElement", export.bucket.node.default_child))
        reasons |= {
            f"AwsSolutions-IAM5[Resource::<{bucket}.Arn>/{PREFIX}/*]": "Each export has its own keys.",
            "AwsSolutions-S1": f"DynamoDB alone writes here, by schedule. {NO_ACCESS_LOG}",
            "AwsSolutions-SQS3": "The schedule's dead letters: they lie in a dead-letter queue.",
        }
    return reasons


def _of_region(stack: RegionalStack, *, config: Config) -> dict[str, str]:
    account = config.account or "<AWS::AccountId>"
    secrets = (
        f"arn:{stack.partition}:secretsmanager:{stack.region}:{account}:secret:{config.credential_prefix}"
    )
    table = f"arn:{stack.partition}:dynamodb:{stack.region}:{account}:table/{config.table_name}"
    push_logs = "arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"
    bucket = stack.get_logical_id(cast("CfnElement", stack.audit_consumer.quarantine.node.default_child))
    quarantine = f"<{bucket}.Arn>/{QUARANTINE_PREFIX}*"
    reasons = {
        f"AwsSolutions-IAM5[Resource::{quarantine}]": "Each record has a key of its own below this prefix.",
        "AwsSolutions-SQS3": "The stream's dead letters: they lie in a dead-letter queue.",
        "AwsSolutions-S1": f"Functions alone write here. {NO_ACCESS_LOG}",
        f"AwsSolutions-IAM5[Resource::{table}/index/*]": "Query on every index of one table, nothing else.",
        "AwsSolutions-IAM5[Resource::*]": _of_any_resource(config),
        f"AwsSolutions-IAM4[Policy::{push_logs}]": "AWS prescribes it for API Gateway's log role.",
        "AwsSolutions-L1": "The runtime is the one that the layer is built and tested for.",
        "AwsSolutions-APIG2": "Methods with a body have a validator; the function judges all the rest.",
        "AwsSolutions-APIG4": "/health alone needs no caller; it tells nothing but ok.",
        "AwsSolutions-APIG6": "Execution logs would carry what sessions hold; access logs are on.",
        "AwsSolutions-COG4": (
            "Callers are IAM principals and sign their requests (SigV4)."
            if config.auth is Callers.IAM
            else "Callers show tokens of any OpenID provider, which the authorizer verifies."
        ),
    }
    if stack.payloads is not None:
        payloads = stack.get_logical_id(cast("CfnElement", stack.payloads.bucket.node.default_child))
        reasons[f"AwsSolutions-IAM5[Resource::<{payloads}.Arn>/*]"] = "Each payload has a key of its own."
    if not config.web_acl:
        reasons["AwsSolutions-APIG3"] = (
            "Calls are authenticated and throttled; a web ACL is the account owner's choice."
        )
    if config.revokes:
        reasons[f"AwsSolutions-IAM5[Resource::{secrets}/*]"] = (
            "Sessions name secrets, all of them below this prefix."
        )
    if config.is_local:
        for finding in ("AwsSolutions-SQS4", "AwsSolutions-S10"):
            reasons[finding] = "The emulator speaks plain HTTP, on loopback alone."
    else:
        reasons[f"AwsSolutions-IAM5[Resource::{table}/stream/*]"] = (
            "A letter names its stream; one table's alone."
        )
    return reasons


def _of_any_resource(config: Config) -> str:
    reasons = ["X-Ray's actions know no resources."]
    if config.dax_nodes:
        reasons.append("Lambda makes network interfaces, which have no name before; functions may not.")
    if config.is_local:
        reasons.append("The emulator judges requests to streams as if they named none.")
    return " ".join(reasons)


def check(app: App, *, config: Config, stacks: Iterable[Stack]) -> None:
    for stack in stacks:
        reasons = acknowledged(stack, config=config)
        Validations.of(stack).acknowledge(
            *(Acknowledgment(id=name, reason=why) for name, why in reasons.items())
        )
    Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=False))
