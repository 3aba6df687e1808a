"""The composition root of the API: use cases on their adapters."""

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.dead_letter import QueueName
from session_store.ports import PayloadStorage, Storage
from session_store.services.dead_letters import DeadLetters
from session_store.services.replays import Replays
from session_store.settings import RedriveSettings, Settings
from session_store.storage.dynamodb.attempts import ATTEMPT_SECONDS, CONNECT_TIMEOUT, READ_TIMEOUT, Attempts
from session_store.storage.dynamodb.audit_table import AuditTable
from session_store.storage.dynamodb.checkpoint_table import CheckpointTable
from session_store.storage.dynamodb.child_table import ChildTable
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.free_claim_table import ClaimTable
from session_store.storage.dynamodb.heartbeat_table import HeartbeatTable
from session_store.storage.dynamodb.keyed_session_table import KeyedSessionTable
from session_store.storage.dynamodb.keyed_task_table import KeyedTaskTable
from session_store.storage.dynamodb.message_table import MessageTable
from session_store.storage.dynamodb.session_table import SessionTable
from session_store.storage.dynamodb.stream_history import StreamHistory
from session_store.storage.dynamodb.task_table import TaskTable
from session_store.storage.dynamodb.tool_call_table import ToolCallTable
from session_store.storage.integrations.cleanup_queue import SqsCleanupQueue
from session_store.storage.integrations.consumer_function import ConsumerFunction
from session_store.storage.integrations.dead_letter_queue import SqsDeadLetterQueue, read_session_end
from session_store.storage.integrations.discarded_records import pointer_reader
from session_store.storage.integrations.payload_bucket import PayloadBucket
from session_store.storage.integrations.quarantine_bucket import QuarantineBucket

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

from session_store.storage.integrations.aws_clients import aws_client, dynamodb_client
from session_store.store import Store, no_dead_letters, store_on

REPLAY_SECONDS: Final = 6
"""Seconds that the API waits for the stream consumer to process a batch, within its own request."""


def open_store(
    settings: Settings, redrive: RedriveSettings | None = None, *, payload_bucket: str | None = None
) -> Store:
    """Open the store on DynamoDB in the region of the settings.

    The S3 client is created at the first large payload, so that a cold start does not pay for it.
    """
    deadline = Deadline()
    client = dynamodb_client(region=settings.region)

    @cache
    def dead_letters() -> DeadLetters:
        return (
            no_dead_letters()
            if redrive is None
            else open_dead_letters(settings, redrive, deadline=deadline, replay_seconds=REPLAY_SECONDS)
        )

    @cache
    def payloads() -> PayloadStorage:
        s3 = aws_client("s3", region=settings.region, attempts=1)
        return PayloadBucket(s3=s3, bucket=payload_bucket or "", attempts=Attempts(deadline=deadline))

    storage = dynamodb_storage(settings, client, deadline)
    return store_on(
        storage,
        settings,
        deadline=deadline,
        payloads=None if payload_bucket is None else payloads,
        dead_letters=dead_letters,
    )


def dynamodb_storage(settings: Settings, client: "DynamoDBClient", deadline: Deadline) -> Storage:
    """The storage adapters on DynamoDB; all retries keep to the deadline."""
    table = Client(dynamodb=client, table=settings.table, attempts=Attempts(deadline=deadline))
    audit = settings.audit_table
    trail = replace(table, table=audit)
    return Storage(
        sessions=SessionTable(client=table, audit_table=audit, shards=settings.status_shards),
        keyed_sessions=KeyedSessionTable(client=table, shards=settings.status_shards),
        messages=MessageTable(client=table, region=settings.region),
        checkpoints=CheckpointTable(client=table, region=settings.region),
        tool_calls=ToolCallTable(
            client=table, audit_table=audit, region=settings.region, shards=settings.status_shards
        ),
        claims=ClaimTable(client=table),
        tasks=TaskTable(
            client=table, audit_table=audit, shards=settings.status_shards, regions=settings.regions
        ),
        keyed_tasks=KeyedTaskTable(client=table, shards=settings.status_shards),
        audit=AuditTable(client=trail),
        children=ChildTable(client=table, audit=trail),
        heartbeats=HeartbeatTable(client=table),
    )


def open_dead_letters(
    settings: Settings, redrive: RedriveSettings, *, deadline: Deadline, replay_seconds: float
) -> DeadLetters:
    """Open the dead-letter queues; ``replay_seconds``: longest wait for the stream consumer, per batch.

    Their calls are not retried: a failure is reported, and the caller may redrive again.
    """

    def client(service: str, read_timeout: float = READ_TIMEOUT) -> Any:  # noqa: ANN401 - as aws_client
        return aws_client(service, region=settings.region, attempts=1, read_timeout=read_timeout)

    sqs = client("sqs")
    batch_seconds = CONNECT_TIMEOUT + replay_seconds + ATTEMPT_SECONDS
    return DeadLetters(
        queues={
            QueueName.STREAM: SqsDeadLetterQueue(
                sqs=sqs, url=redrive.stream_dead_letters_url, read=pointer_reader(settings.table)
            ),
            QueueName.CLEANUP: SqsDeadLetterQueue(
                sqs=sqs, url=redrive.cleanup_dead_letters_url, read=read_session_end
            ),
        },
        replays=Replays(
            history=StreamHistory(streams=client("dynamodbstreams"), deadline=deadline),
            consumer=ConsumerFunction(
                client=client("lambda", replay_seconds), name=redrive.consumer_function
            ),
            deadline=deadline,
            batch_seconds=batch_seconds,
        ),
        # No delay: writes in flight when the session ended have finished long ago.
        cleanup=SqsCleanupQueue(sqs=sqs, url=redrive.cleanup_queue_url, delay=0),
        quarantine=QuarantineBucket(s3=client("s3"), bucket=redrive.quarantine_bucket),
        deadline=deadline,
        letter_seconds=batch_seconds + READ_TIMEOUT,
    )
