"""The one place where use cases meet their adapters."""

import random
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.caller import Caller
from session_store.domain.claim import MAX_LEASE
from session_store.domain.dead_letter import QueueName
from session_store.errors import NotFoundError
from session_store.ports import Clock, Ids, PayloadStorage, Storage
from session_store.services.access import SessionAccess
from session_store.services.approvals import Approvals
from session_store.services.audit_events import AuditEvents
from session_store.services.audit_trail import AuditTrail
from session_store.services.checkpoints import Checkpoints
from session_store.services.context import Context
from session_store.services.dead_letters import DeadLetters
from session_store.services.drain import Drain
from session_store.services.finished_calls import FinishedCalls
from session_store.services.free_claims import FreeClaims, NewClaim
from session_store.services.keyed_sessions import KeyedSessions
from session_store.services.keyed_tasks import KeyedTasks
from session_store.services.payloads import Payloads
from session_store.services.recovery import Recovery
from session_store.services.replays import Replays
from session_store.services.running_calls import NewCall, RunningCalls
from session_store.services.sessions import Sessions
from session_store.services.settling import Settling
from session_store.services.task_access import TaskAccess
from session_store.services.task_work import TaskWork
from session_store.services.tasks import Tasks
from session_store.services.tool_calls import ToolCalls
from session_store.settings import RedriveSettings, Settings
from session_store.storage.attempts import ATTEMPT_SECONDS, CONNECT_TIMEOUT, READ_TIMEOUT, Attempts
from session_store.storage.audit_table import AuditTable
from session_store.storage.checkpoint_table import CheckpointTable
from session_store.storage.child_table import ChildTable
from session_store.storage.claim_table import ClaimTable
from session_store.storage.cleanup_queue import SqsCleanupQueue
from session_store.storage.client import Client
from session_store.storage.consumer_function import ConsumerFunction
from session_store.storage.dead_letter_queue import SqsDeadLetterQueue, read_session_end
from session_store.storage.discard_pointers import pointer_reader
from session_store.storage.heartbeat_table import HeartbeatTable
from session_store.storage.keyed_session_table import KeyedSessionTable
from session_store.storage.keyed_task_table import KeyedTaskTable
from session_store.storage.message_table import MessageTable
from session_store.storage.payload_bucket import PayloadBucket
from session_store.storage.quarantine_bucket import QuarantineBucket
from session_store.storage.session_table import SessionTable
from session_store.storage.stream_history import StreamHistory
from session_store.storage.task_table import TaskTable
from session_store.storage.tool_call_table import ToolCallTable
from session_store.system import RandomIds, SystemClock

if TYPE_CHECKING:
    from botocore.session import Session
    from mypy_boto3_dynamodb.client import DynamoDBClient

    from session_store.in_process.awaited import AsyncFreeWork, AsyncToolCall
    from session_store.in_process.block import Block
    from session_store.in_process.free_work import FreeWork
    from session_store.in_process.tool_call import ToolCall

POOL: Final = 64
"""As many connections as a request may need at once: one for each shard of the status/ttl index."""

REPLAY_SECONDS: Final = 6
"""What the API waits for the consumer of the stream to do a batch; its own request has no more to give."""


class Store(Struct, frozen=True, kw_only=True):
    """Every use case, ready to be called; ``deadline`` is set anew at each request.

    ``dead_letters`` is made at its first use: most requests need none of its clients, and a cold
    start should not pay for them.
    """

    sessions: Sessions
    keyed_sessions: KeyedSessions
    context: Context
    checkpoints: Checkpoints
    tool_calls: ToolCalls
    running_calls: RunningCalls
    finished_calls: FinishedCalls
    claims: FreeClaims
    tasks: Tasks
    keyed_tasks: KeyedTasks
    task_work: TaskWork
    approvals: Approvals
    recovery: Recovery
    audit: AuditTrail
    drain: Drain
    dead_letters: Callable[[], DeadLetters]
    deadline: Deadline

    def tool_call(
        self,
        caller: Caller,
        session_id: str,
        new: NewCall,
        *,
        wait: float = 0,
        renew_for: int = MAX_LEASE,
        failures: tuple[type[Exception], ...] = (),
    ) -> "Block[ToolCall, AsyncToolCall]":
        """A block, ``with`` or ``async with``, in which a call is run once (``docs/library.md``).

        ``wait``: seconds to wait for somebody else who runs it. ``renew_for``: seconds for which the block
        renews its lease. ``failures``: exceptions that mean, as they leave the block, that the call has
        failed; after any other nobody knows.

        Raises, as the block is entered:
            InProgressError: somebody else runs it still.
            UnreconciledError: somebody may have run it, and nobody knows.
            IdempotencyMismatchError: the id was used with another tool or input.
            InvalidRequestError, PayloadTooLargeError, SessionClosedError, SessionNotFoundError
        """
        from session_store.in_process import block, tool_call, work  # noqa: PLC0415 - no function runs a call

        steps = tool_call.CallSteps(
            running=self.running_calls,
            finished=self.finished_calls,
            caller=caller,
            session_id=session_id,
            new=new,
        )
        terms = work.Terms(wait=wait, renew_for=renew_for, failures=failures)
        return block.tool_call_block(steps, terms)

    def claim(
        self,
        caller: Caller,
        key: str,
        new: NewClaim,
        *,
        wait: float = 0,
        renew_for: int = MAX_LEASE,
        failures: tuple[type[Exception], ...] = (),
    ) -> "Block[FreeWork, AsyncFreeWork]":
        """The same for work under a free key, without a session.

        Raises, as the block is entered:
            InProgressError, UnreconciledError, IdempotencyMismatchError, InvalidRequestError,
            MisdirectedError, PayloadTooLargeError
        """
        from session_store.in_process import block, free_work, work  # noqa: PLC0415 - likewise

        steps = free_work.KeySteps(claims=self.claims, caller=caller, key=key, new=new)
        terms = work.Terms(wait=wait, renew_for=renew_for, failures=failures)
        return block.free_work_block(steps, terms)


def dynamodb_client(*, region: str) -> "DynamoDBClient":
    """A client that gives up in time and resends nothing: ``Attempts`` does, and knows what it sent."""
    client: DynamoDBClient = aws_client("dynamodb", region=region, attempts=1)
    return client


def aws_client(service: str, *, region: str, attempts: int = 3, read_timeout: float = READ_TIMEOUT) -> Any:  # noqa: ANN401 - made at run time by its name
    """A client of any service that gives up in time."""
    from botocore.config import Config  # noqa: PLC0415 - a caller that brings its own client need not load it

    config = Config(
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=read_timeout,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=POOL,
        # Of requests that our own code makes, and the service judges anyway.
        parameter_validation=False,
    )
    return aws_session().create_client(service, region_name=region, config=config)


@cache
def aws_session() -> "Session":
    """What the clients of a function share. botocore's own: boto3 adds resources, which nothing here uses."""
    from botocore.session import Session  # noqa: PLC0415 - likewise

    from session_store.storage.service_models import ServiceModels  # noqa: PLC0415 - likewise

    session = Session()
    session.register_component("data_loader", ServiceModels())
    return session


def dynamodb_storage(settings: Settings, client: "DynamoDBClient", deadline: Deadline) -> Storage:
    table = Client(dynamodb=client, table=settings.table, attempts=Attempts(deadline=deadline))
    audit = settings.audit_table
    trail = replace(table, table=audit)
    return Storage(
        sessions=SessionTable(client=table, audit_table=audit, shards=settings.status_shards),
        keyed=KeyedSessionTable(client=table, shards=settings.status_shards),
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


def store_on(
    storage: Storage,
    settings: Settings,
    *,
    clock: Clock | None = None,
    ids: Ids | None = None,
    deadline: Deadline | None = None,
    payloads: Callable[[], PayloadStorage] | None = None,
    dead_letters: Callable[[], DeadLetters] | None = None,
) -> Store:
    """The use cases on a storage, with the machine's clock and randomness unless others are given.

    ``payloads`` is asked at each use of a large payload; None: there is no place for one.
    """
    clock = clock or SystemClock()
    ids = ids or RandomIds()
    deadline = deadline or Deadline()
    events = AuditEvents(ids=ids, region=settings.region, retention=settings.audit_retention)
    access = SessionAccess(sessions=storage.sessions, clock=clock, region=settings.region)
    large = Payloads(storage=payloads, region=settings.region)
    sessions = Sessions(
        storage=storage.sessions,
        access=access,
        clock=clock,
        ids=ids,
        events=events,
        region=settings.region,
    )
    context = Context(storage=storage.messages, access=access, payloads=large, clock=clock, ids=ids)
    tasks = Tasks(
        storage=storage.tasks,
        access=TaskAccess(storage=storage.tasks, clock=clock, ids=ids, region=settings.region),
        sessions=access,
        ids=ids,
    )
    checkpoints = Checkpoints(
        storage=storage.checkpoints, access=access, payloads=large, clock=clock, ids=ids
    )
    return Store(
        sessions=sessions,
        keyed_sessions=KeyedSessions(storage=storage.keyed, sessions=sessions, access=access),
        context=context,
        checkpoints=checkpoints,
        tool_calls=ToolCalls(
            storage=storage.tool_calls, access=access, payloads=large, clock=clock, events=events
        ),
        running_calls=RunningCalls(
            storage=storage.tool_calls, access=access, payloads=large, clock=clock, ids=ids
        ),
        finished_calls=FinishedCalls(
            storage=storage.tool_calls,
            access=access,
            settling=Settling(context=context, events=events, region=settings.region),
            clock=clock,
        ),
        claims=FreeClaims(
            storage=storage.claims,
            clock=clock,
            ids=ids,
            region=settings.region,
            regions=settings.regions,
        ),
        tasks=tasks,
        keyed_tasks=KeyedTasks(storage=storage.keyed_tasks, tasks=tasks),
        task_work=TaskWork(
            storage=storage.tasks, access=tasks.access, sessions=access, shuffle=random.shuffle
        ),
        recovery=Recovery(
            calls=storage.tool_calls, tasks=tasks, checkpoints=checkpoints, access=access, clock=clock
        ),
        approvals=Approvals(storage=storage.tasks, access=tasks.access, events=events),
        audit=AuditTrail(storage=storage.audit, access=access),
        drain=Drain(
            sessions=storage.sessions, clock=clock, ids=ids, deadline=deadline, region=settings.region
        ),
        dead_letters=dead_letters or _no_dead_letters,
        deadline=deadline,
    )


def open_store(
    settings: Settings, redrive: RedriveSettings | None = None, *, payload_bucket: str | None = None
) -> Store:
    """The store as a function uses it: on DynamoDB, in its own region.

    The client of S3 is made when the first large payload comes: a cold start need not pay for it.
    """
    deadline = Deadline()
    client = dynamodb_client(region=settings.region)

    @cache
    def dead_letters() -> DeadLetters:
        return (
            _no_dead_letters()
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


def _no_dead_letters() -> NoReturn:
    raise NotFoundError("This deployment has no dead-letter queues.")


def open_dead_letters(
    settings: Settings, redrive: RedriveSettings, *, deadline: Deadline, replay_seconds: float
) -> DeadLetters:
    """``replay_seconds``: how long the consumer of the stream is waited for, a batch.

    Nothing is resent: what is not done is told, and may be asked for again.
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
        # Not delayed: what was being written as the session ended has long been written.
        cleanup=SqsCleanupQueue(sqs=sqs, url=redrive.cleanup_queue_url, delay=0),
        quarantine=QuarantineBucket(s3=client("s3"), bucket=redrive.quarantine_bucket),
        deadline=deadline,
        letter_seconds=batch_seconds + READ_TIMEOUT,
    )
