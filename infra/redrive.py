"""What the API's function needs to redrive dead letters: environment variables and permissions."""

from dataclasses import dataclass
from typing import Final

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.config import Config
from infra.names import API_FUNCTION_OUTPUT
from session_store.schema import QUARANTINE_PREFIX, RedriveEnv, StreamEnv

LETTER_ACTIONS: Final = (
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
)
"""ChangeMessageVisibility: a letter that stays becomes visible again at once."""

HISTORY_ACTIONS: Final = ("dynamodb:GetRecords", "dynamodb:GetShardIterator")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterPlaces:
    """The dead-letter queues of one region, and the targets of a redrive."""

    stream_dead_letters: sqs.IQueue
    cleanup_dead_letters: sqs.IQueue
    cleanup_queue: sqs.IQueue
    consumer: lambda_.IFunction
    quarantine: s3.IBucket


def connect_redrive(
    scope: Construct, function: lambda_.Function, *, places: DeadLetterPlaces, config: Config
) -> None:
    """Give ``function`` (the API's) the environment and the permissions to redrive."""
    for name, value in _environment(places).items():
        function.add_environment(name, value)
    for statement in _statements(places, streams=_streams(scope, config)):
        function.add_to_role_policy(statement)
    # Where the command `ops.dead_letters` finds all of this.
    CfnOutput(scope, API_FUNCTION_OUTPUT, value=function.function_name)


def _streams(scope: Construct, config: Config) -> str:
    """Every stream of the table: the replica may belong to another stack, and a letter names its stream."""
    if config.is_local:
        # The emulator authorizes requests to streams as if they named no resource.
        return "*"
    return Stack.of(scope).format_arn(
        service="dynamodb", resource="table", resource_name=f"{config.table_name}/stream/*"
    )


def _environment(places: DeadLetterPlaces) -> dict[str, str]:
    return {
        RedriveEnv.STREAM_DEAD_LETTERS_URL.value: places.stream_dead_letters.queue_url,
        RedriveEnv.CLEANUP_DEAD_LETTERS_URL.value: places.cleanup_dead_letters.queue_url,
        RedriveEnv.CONSUMER_FUNCTION.value: places.consumer.function_name,
        StreamEnv.CLEANUP_QUEUE_URL.value: places.cleanup_queue.queue_url,
        StreamEnv.QUARANTINE_BUCKET.value: places.quarantine.bucket_name,
    }


def _statements(places: DeadLetterPlaces, *, streams: str) -> list[iam.PolicyStatement]:
    return [
        iam.PolicyStatement(
            actions=list(LETTER_ACTIONS),
            resources=[places.stream_dead_letters.queue_arn, places.cleanup_dead_letters.queue_arn],
        ),
        iam.PolicyStatement(actions=["sqs:SendMessage"], resources=[places.cleanup_queue.queue_arn]),
        iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[places.consumer.function_arn]),
        iam.PolicyStatement(actions=list(HISTORY_ACTIONS), resources=[streams]),
        iam.PolicyStatement(
            actions=["s3:ListBucket"],
            resources=[places.quarantine.bucket_arn],
            conditions={"StringEquals": {"s3:prefix": QUARANTINE_PREFIX}},
        ),
    ]
