"""cdk-nag over every stack, and each finding that we accept with the reason why.

Removing one entry makes the synthesis fail; a test does just that.
"""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, App, Stack, Validations
from cdk_nag import AwsSolutionsChecks

from infra.config import Config


def acknowledged(config: Config, *, region: str) -> dict[str, str]:
    """The reason for every finding in a regional stack that stands."""
    indexes = f"arn:<AWS::Partition>:dynamodb:{region}:{config.account or '<AWS::AccountId>'}:table/{config.table_name}"
    push_logs = "arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs"
    return {
        f"AwsSolutions-IAM5[Resource::{indexes}/index/*]": "Query on every index of one table, and nothing else.",
        "AwsSolutions-IAM5[Resource::*]": "X-Ray's PutTraceSegments and PutTelemetryRecords know no resources.",
        f"AwsSolutions-IAM4[Policy::{push_logs}]": "The policy AWS prescribes for the account's API Gateway log role.",
        "AwsSolutions-L1": "The runtime is pinned to the version that the layer is built and tested for.",
        "AwsSolutions-APIG2": "Methods with a body have a validator; the function judges the rest and names the path.",
        "AwsSolutions-APIG3": "Every call but /health is signed, and throttled; a web ACL is the account owner's choice.",
        "AwsSolutions-APIG4": "/health alone needs no caller; it tells nothing but ok.",
        "AwsSolutions-APIG6": "Execution logs would carry what sessions hold; access logs are on.",
        "AwsSolutions-COG4": "Callers are IAM principals and sign their requests (SigV4).",
    }


def check(app: App, *, config: Config, regional: Mapping[str, Stack]) -> None:
    for region, stack in regional.items():
        reasons = acknowledged(config, region=region)
        Validations.of(stack).acknowledge(*(Acknowledgment(id=name, reason=why) for name, why in reasons.items()))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=False))
