"""How every queue is configured: 14 days of retention, encrypted, TLS only."""

from typing import TYPE_CHECKING, Final, cast

from aws_cdk import Duration
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra import names
from infra.config import Config

if TYPE_CHECKING:
    from aws_cdk.aws_sqs import CfnQueue

RETENTION: Final = Duration.days(14)


def queue(
    scope: Construct,
    construct_id: str,
    *,
    config: Config,
    key: kms.IKey | None,
    name: str,
    visibility: Duration | None = None,
    gives_up_to: sqs.DeadLetterQueue | None = None,
) -> sqs.Queue:
    """The key is set on the resource: given it, CDK would grant every role wildcard actions."""
    made = sqs.Queue(
        scope,
        construct_id,
        queue_name=names.queue(config.stage, name),
        retention_period=RETENTION,
        visibility_timeout=visibility,
        dead_letter_queue=gives_up_to,
        encryption=sqs.QueueEncryption.SQS_MANAGED if key is None else sqs.QueueEncryption.UNENCRYPTED,
        # The emulator serves plain HTTP, on loopback only.
        enforce_ssl=not config.is_local,
    )
    if key is not None:
        resource = cast("CfnQueue", made.node.default_child)
        resource.sqs_managed_sse_enabled = None
        resource.kms_master_key_id = key.key_arn
    return made
