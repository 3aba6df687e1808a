"""cdk-nag over every stack, and the findings that are accepted, each with its reason.

Removing one entry makes the synthesis fail; a test verifies that.
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
    "Access logs would be one more bucket that everybody keeps and pays for; where reads have to be "
    "proven, CloudTrail's data events do that, which are off by default."
)


def acknowledged(stack: Stack, *, config: Config) -> dict[str, str]:
    """The accepted findings in a stack, by id, each with its reason."""
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
        reasons["AwsSolutions-KDS3"] = "The key is customer-managed, as everywhere in this deployment."
    export = stack.audit_export
    if export is not None:
        bucket = stack.get_logical_id(cast("CfnElement", export.bucket.node.default_child))
        reasons |= {
            f"AwsSolutions-IAM5[Resource::<{bucket}.Arn>/{PREFIX}/*]": (
                "Each export has object keys of its own below this prefix."
            ),
            "AwsSolutions-S1": f"Only DynamoDB writes here, on a schedule. {NO_ACCESS_LOG}",
            "AwsSolutions-SQS3": "This is the dead-letter queue of the schedule.",
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
        f"AwsSolutions-IAM5[Resource::{quarantine}]": "Each record has an object key of its own.",
        "AwsSolutions-SQS3": "This is the dead-letter queue of the stream.",
        "AwsSolutions-S1": f"Only functions write here. {NO_ACCESS_LOG}",
        f"AwsSolutions-IAM5[Resource::{table}/index/*]": "Query on every index of one table, only.",
        "AwsSolutions-IAM5[Resource::*]": _of_any_resource(config),
        f"AwsSolutions-IAM4[Policy::{push_logs}]": "AWS prescribes it for API Gateway's log role.",
        "AwsSolutions-L1": "The layer is built and tested for this runtime.",
        "AwsSolutions-APIG2": "Methods with a body have a validator; the function validates everything else.",
        "AwsSolutions-APIG4": "Only /health is open; it answers nothing but ok.",
        "AwsSolutions-APIG6": "Execution logs would contain session data; access logs are on.",
        "AwsSolutions-COG4": (
            "Callers are IAM principals and sign their requests (SigV4)."
            if config.auth is Callers.IAM
            else "The authorizer verifies tokens of any OpenID provider."
        ),
    }
    if stack.payloads is not None:
        payloads = stack.get_logical_id(cast("CfnElement", stack.payloads.bucket.node.default_child))
        reasons[f"AwsSolutions-IAM5[Resource::<{payloads}.Arn>/*]"] = (
            "Each payload has an object key of its own."
        )
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
            reasons[finding] = "The emulator serves plain HTTP, on loopback only."
    else:
        reasons[f"AwsSolutions-IAM5[Resource::{table}/stream/*]"] = (
            "A dead letter names its stream; all are streams of one table."
        )
    return reasons


def _of_any_resource(config: Config) -> str:
    reasons = ["X-Ray's actions do not support resources."]
    if config.dax_nodes:
        reasons.append("Lambda creates network interfaces, which have no ARN before; function code may not.")
    if config.is_local:
        reasons.append("The emulator authorizes requests to streams as if they named no resource.")
    return " ".join(reasons)


def check(app: App, *, config: Config, stacks: Iterable[Stack]) -> None:
    for stack in stacks:
        reasons = acknowledged(stack, config=config)
        Validations.of(stack).acknowledge(
            *(Acknowledgment(id=name, reason=why) for name, why in reasons.items())
        )
    Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=False))
