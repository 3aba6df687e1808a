"""What the API's function needs to look after the dead letters: what it is told, and what it may do."""

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
"""A letter that stays is given back at once, which is a change of its visibility."""

HISTORY_ACTIONS: Final = ("dynamodb:GetRecords", "dynamodb:GetShardIterator")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterPlaces:
    """Where one region's dead letters lie, and where they are sent again."""

    stream_dead_letters: sqs.IQueue
    cleanup_dead_letters: sqs.IQueue
    cleanup_queue: sqs.IQueue
    consumer: lambda_.IFunction
    quarantine: s3.IBucket


def connect_redrive(
    scope: Construct, function: lambda_.Function, *, places: DeadLetterPlaces, config: Config
) -> None:
    """Tell ``function`` (the API's) where dead letters lie, and let it do with them what redrive does."""
    for name, value in _environment(places).items():
        function.add_environment(name, value)
    for statement in _statements(places, streams=_streams(scope, config)):
        function.add_to_role_policy(statement)
    # Where the command for operators finds all of this.
    CfnOutput(scope, API_FUNCTION_OUTPUT, value=function.function_name)


def _streams(scope: Construct, config: Config) -> str:
    """Every stream of the table: its copy here may belong to another stack, and a letter names its stream."""
    if config.is_local:
        # The emulator judges requests to streams as if they named none.
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
