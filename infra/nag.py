"""cdk-nag over every stack, and each finding that we accept with the reason why.

Removing one entry makes the synthesis fail; a test does just that.
"""

from collections.abc import Iterable

from aws_cdk import Acknowledgment, App, Stack, Validations
from cdk_nag import AwsSolutionsChecks

from infra.config import Config, Target


def acknowledged(stack: Stack, *, config: Config) -> dict[str, str]:
    """The findings in a regional stack that stand, by id, each with its reason."""
    account = config.account or "<AWS::AccountId>"
    secrets = (
        f"arn:{stack.partition}:secretsmanager:{stack.region}:{account}:secret:{config.credential_prefix}"
    )
    table = f"arn:{stack.partition}:dynamodb:{stack.region}:{account}:table/{config.table_name}"
    push_logs = "arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"
    reasons = {
        f"AwsSolutions-IAM5[Resource::{table}/index/*]": "Query on every index of one table, nothing else.",
        f"AwsSolutions-IAM5[Resource::{secrets}/*]": "Sessions name secrets, all of them below this prefix.",
        "AwsSolutions-IAM5[Resource::*]": "X-Ray's actions and ListStreams know no resources.",
        f"AwsSolutions-IAM4[Policy::{push_logs}]": "AWS prescribes it for API Gateway's log role.",
        "AwsSolutions-L1": "The runtime is the one that the layer is built and tested for.",
        "AwsSolutions-APIG2": "Methods with a body have a validator; the function judges all the rest.",
        "AwsSolutions-APIG3": "Calls are signed and throttled; a web ACL is the account owner's choice.",
        "AwsSolutions-APIG4": "/health alone needs no caller; it tells nothing but ok.",
        "AwsSolutions-APIG6": "Execution logs would carry what sessions hold; access logs are on.",
        "AwsSolutions-COG4": "Callers are IAM principals and sign their requests (SigV4).",
    }
    if config.target is Target.LOCAL:
        reasons["AwsSolutions-SQS4"] = "The emulator speaks plain HTTP, on loopback alone."
    return reasons


def check(app: App, *, config: Config, regional: Iterable[Stack]) -> None:
    for stack in regional:
        reasons = acknowledged(stack, config=config)
        Validations.of(stack).acknowledge(
            *(Acknowledgment(id=name, reason=why) for name, why in reasons.items())
        )
    Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=False))
