"""The composition root of the functions behind the API: use cases on their adapters.

It is separate from ``bootstrap``, so that a cold start of the API loads none of it.
"""

from typing import Any

from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.differences import Exposure
from session_store.ports import (
    EventBus,
    PayloadStorage,
    Quarantine,
    SecretStorage,
    Storage,
)
from session_store.schema import PAYLOADS
from session_store.services.census import Census
from session_store.services.cleanup import Cleanup
from session_store.services.expiry_watch import ExpiryWatch
from session_store.services.heartbeat import HeartbeatWriter
from session_store.services.home import Home
from session_store.services.revocation import Revocations
from session_store.services.stream_consumer import StreamConsumer
from session_store.services.tasks.access import TaskAccess
from session_store.services.tasks.overdue import OverdueTasks
from session_store.settings import (
    CleanupSettings,
    Settings,
    StreamSettings,
    WatchSettings,
)
from session_store.storage.dynamodb.audit_table import AuditTable
from session_store.storage.dynamodb.client import Client
from session_store.storage.integrations.aws_clients import aws_client, dynamodb_client
from session_store.storage.integrations.cleanup_queue import SqsCleanupQueue
from session_store.storage.integrations.event_bus import EventBridgeBus
from session_store.storage.integrations.payload_bucket import PayloadBucket
from session_store.storage.integrations.quarantine_bucket import QuarantineBucket
from session_store.storage.integrations.revocation_endpoint import RevocationEndpoint
from session_store.storage.integrations.secrets_manager import SecretsManager
from session_store.system import RandomIds, SystemClock


def open_stream_consumer(settings: Settings, stream: StreamSettings) -> tuple[StreamConsumer, Quarantine]:
    """Open the stream consumer, and the quarantine for records in no known form."""
    audit = Client(dynamodb=dynamodb_client(region=settings.region), table=settings.audit_table)
    consumer = StreamConsumer(
        storage=AuditTable(client=audit),
        cleanup=SqsCleanupQueue(
            sqs=aws_client("sqs", region=settings.region),
            url=stream.cleanup_queue_url,
            delay=stream.cleanup_delay,
        ),
        exposure=Exposure(digested=stream.digested, payloads=frozenset(PAYLOADS)),
        region=settings.region,
        audit_retention=settings.audit_retention,
    )
    return consumer, QuarantineBucket(
        s3=aws_client("s3", region=settings.region), bucket=stream.quarantine_bucket
    )


def cleanup_on(
    storage: Storage,
    settings: Settings,
    cleanup: CleanupSettings,
    *,
    secrets: SecretStorage,
    bus: EventBus,
    payloads: PayloadStorage | None = None,
    deadline: Deadline | None = None,
) -> Cleanup:
    """The clean-up of ended sessions on a given storage."""
    endpoint = cleanup.revocation_endpoint
    client = cleanup.revocation_client_secret
    revoker = (
        None if endpoint is None else RevocationEndpoint(url=endpoint, secrets=secrets, client_secret=client)
    )
    return Cleanup(
        sessions=storage.sessions,
        children=storage.children,
        payloads=payloads,
        revocations=Revocations(secrets=secrets, revoker=revoker, prefix=cleanup.credential_prefix),
        audit=storage.audit,
        bus=bus,
        deadline=deadline or Deadline(),
        region=settings.region,
        audit_retention=settings.audit_retention,
    )


def open_cleanup(settings: Settings, cleanup: CleanupSettings) -> Cleanup:
    """Open the clean-up on AWS."""

    def client(service: str) -> Any:  # noqa: ANN401 - as aws_client
        return aws_client(service, region=settings.region)

    deadline = Deadline()
    bucket = cleanup.payload_bucket
    return cleanup_on(
        dynamodb_storage(settings, dynamodb_client(region=settings.region), deadline),
        settings,
        cleanup,
        secrets=SecretsManager(client=client("secretsmanager")),
        bus=EventBridgeBus(events=client("events"), name=cleanup.event_bus),
        payloads=None if bucket is None else PayloadBucket(s3=client("s3"), bucket=bucket),
        deadline=deadline,
    )


def open_census(settings: Settings) -> Census:
    """Open the session census on DynamoDB."""
    deadline = Deadline()
    client = dynamodb_client(region=settings.region)
    return Census(
        sessions=dynamodb_storage(settings, client, deadline).sessions,
        clock=SystemClock(),
        deadline=deadline,
        region=settings.region,
    )


def open_expiry_watch(settings: Settings, watch: WatchSettings) -> tuple[ExpiryWatch, OverdueTasks]:
    """Open the expiry watch and the overdue tasks, with one deadline for both."""
    deadline, clock = Deadline(), SystemClock()
    home = Home(region=settings.region)
    storage = dynamodb_storage(settings, dynamodb_client(region=settings.region), deadline)
    sessions = ExpiryWatch(
        sessions=storage.sessions,
        bus=EventBridgeBus(events=aws_client("events", region=settings.region), name=watch.event_bus),
        clock=clock,
        deadline=deadline,
        home=home,
        within=watch.within,
    )
    access = TaskAccess(storage=storage.tasks, clock=clock, ids=RandomIds(), home=home)
    tasks = OverdueTasks(access=access, deadline=deadline)
    return sessions, tasks


def open_heart(settings: Settings) -> HeartbeatWriter:
    """Open the heartbeat on DynamoDB."""
    deadline = Deadline()
    client = dynamodb_client(region=settings.region)
    return HeartbeatWriter(
        heartbeats=dynamodb_storage(settings, client, deadline).heartbeats,
        clock=SystemClock(),
        deadline=deadline,
        region=settings.region,
    )
