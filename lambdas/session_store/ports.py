"""What the use cases need of the world.

Each storage port has two adapters, DynamoDB and memory, and one contract suite
that both pass. Every method may raise ThrottledError (nothing was done, try again)
and every write OutcomeUnknownError (the answer was lost).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol

from msgspec import Struct

from session_store.domain.audit_event import AuditChange, AuditEntry, AuditEvent
from session_store.domain.checkpoint import Checkpoint
from session_store.domain.claim import ClaimGuard, ClaimT
from session_store.domain.credential import Credential
from session_store.domain.dead_letter import Letter, Quarantined, Reread, ShardRange
from session_store.domain.erasure import Erasure
from session_store.domain.expiry_mark import ExpiryMark
from session_store.domain.free_claim import FreeClaim
from session_store.domain.heartbeat import Heartbeat
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.message import Message
from session_store.domain.notice import Notice
from session_store.domain.page import (
    AuditPosition,
    CheckpointPosition,
    ExpiringPosition,
    MessagePosition,
    OwnedPosition,
    Page,
    PageRequest,
    RecordPosition,
    TaskPosition,
)
from session_store.domain.session import ExpiringSession, Owner, Session, SessionSummary, Status
from session_store.domain.session_end import SessionEnd
from session_store.domain.session_write import Guard, SessionWrite
from session_store.domain.settlement import CallSight, Settlement
from session_store.domain.slide import Slide
from session_store.domain.task import Task
from session_store.domain.task_writes import TaskFilter, TaskSettlement
from session_store.domain.tool_call import Claim, ToolCallRecord


class Clock(Protocol):
    def now_ms(self) -> int:
        """Milliseconds since the epoch."""
        ...


class Ids(Protocol):
    def session_id(self, region: str) -> str: ...

    def task_id(self, region: str) -> str: ...

    def message_id(self, now_ms: int) -> str:
        """A UUIDv7 greater than any that this process minted before."""
        ...

    def operation_id(self) -> str:
        """A name for one operation, at most 36 characters: it serves as ClientRequestToken."""
        ...


class SessionStorage(Protocol):
    def create(self, session: Session) -> None:
        """Put the session. Its id is new, so the only item it may meet is its own, of a lost answer."""
        ...

    def read(self, session_id: str) -> Session | None:
        """The session as it is now, read consistently, whoever asks and whether or not it is expired."""
        ...

    def write(self, write: SessionWrite) -> Session:
        """The session after the write, or after the same write done before.

        Raises:
            StoreError: the clause of the guard that does not hold (``domain.session_write.violation``).
            PayloadTooLargeError: the item would pass DynamoDB's 400 KB; nothing is changed.
        """
        ...

    def slide(self, slide: Slide) -> Session | None:
        """The session as the slide left it or as another use had left it; None if it is gone."""
        ...

    def mark_warned(self, mark: ExpiryMark) -> bool:
        """Whether the mark is set now by this call: not on a session that is gone, moved on or marked."""
        ...

    def delete(self, session_id: str, guard: Guard, event: AuditEvent) -> None:
        """Remove the metadata and write the event, both or neither.

        Raises:
            StoreError: the clause of the guard that does not hold.
        """
        ...

    def page_owned(
        self, owner: Owner, *, status: Status | None, now_ms: int, page: PageRequest[OwnedPosition]
    ) -> Page[SessionSummary, OwnedPosition]:
        """Live sessions of an owner by creation. Eventually consistent."""
        ...

    def page_expiring(
        self, status: Status, *, now_ms: int, until: int, page: PageRequest[ExpiringPosition]
    ) -> Page[ExpiringSession, ExpiringPosition]:
        """Live sessions of any owner that end by ``until`` (epoch seconds), soonest first.

        Eventually consistent.
        """
        ...

    def count_living(self, status: Status, *, region: str, now_ms: int) -> Iterator[int]:
        """How many live sessions of a status are at home in a region, in parts that add up.

        Each part is read as it is asked for. Eventually consistent.
        """
        ...


class KeyedStorage(Protocol):
    """Writes of sessions together with the claim of an idempotency key: both, or neither.

    Each returns None when this very operation has been done, now or before, and else
    the claim that holds the key, whatever has become of its session.
    """

    def create(self, session: Session, claim: KeyClaim) -> KeyClaim | None: ...

    def write(self, write: SessionWrite, claim: KeyClaim) -> KeyClaim | None:
        """A transaction tells nothing of the session after it.

        Raises:
            StoreError: the key is free, and a clause of the guard does not hold.
            PayloadTooLargeError: the item would pass DynamoDB's 400 KB; nothing is changed.
        """
        ...


class MessageStorage(Protocol):
    def put(self, message: Message) -> Message | None:
        """None when the message is new and now stored; the one that has its id otherwise."""
        ...

    def put_all(self, messages: Sequence[Message], *, operation_id: str) -> dict[str, Message]:
        """Store all the messages or none: empty when stored, else what holds their ids."""
        ...

    def read_all(self, session_id: str, message_ids: Sequence[str]) -> dict[str, Message]:
        """Those of the messages that exist, by id, read consistently."""
        ...

    def page(self, session_id: str, page: PageRequest[MessagePosition]) -> Page[Message, MessagePosition]:
        """A session's messages in the order of their ids, read consistently."""
        ...


class CheckpointStorage(Protocol):
    """Told apart by session, namespace and id; one that is expired stands in no new one's way."""

    def put(self, checkpoint: Checkpoint) -> Checkpoint | None:
        """None when the checkpoint is new and now stored; the one that has its id otherwise."""
        ...

    def put_under_key(self, checkpoint: Checkpoint, claim: KeyClaim) -> KeyClaim | Checkpoint | None:
        """Store the checkpoint and the claim, both or neither.

        Returns None when this very operation has been done, now or before; else the claim that
        holds the key; or, where the key is free, the checkpoint that has the id.
        """
        ...

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        """The claim that holds a key, read consistently, whether or not it is expired."""
        ...

    def read(self, session_id: str, namespace: str, checkpoint_id: str) -> Checkpoint | None:
        """A checkpoint, read consistently, whether or not it is expired."""
        ...

    def has(self, session_id: str, namespace: str, checkpoint_id: str, *, now_ms: int) -> bool:
        """Whether there is such a checkpoint, not expired, read consistently; its data stays where it is."""
        ...

    def page(
        self, session_id: str, namespace: str, page: PageRequest[CheckpointPosition]
    ) -> Page[Checkpoint, CheckpointPosition]:
        """Checkpoints of a namespace in the order of their ids, the expired among them, read consistently."""
        ...


class Refused(Struct, Generic[ClaimT], frozen=True, kw_only=True):
    """A claim was not written; ``held`` is what was there instead, if anything was."""

    held: ClaimT | None


class ToolCallStorage(Protocol):
    def put(self, claim: Claim, guard: ClaimGuard) -> Refused[Claim] | None:
        """Write the claim if what is there is what the guard asks for. None when written."""
        ...

    def settle(self, settlement: Settlement) -> bool:
        """Write everything or nothing.

        False: nothing, for the claim or a message is not what it was taken for, or another
        request of the same token is at work; read, and judge again.

        Raises:
            StoreError: a clause of the session's guard does not hold.
            PayloadTooLargeError: more than one transaction takes, or the session would pass 400 KB.
        """
        ...

    def sight(self, session_id: str, tool_call_id: str, *, message_ids: Sequence[str] = ()) -> CallSight:
        """The call's claim, its session and those of the messages that are there, read consistently."""
        ...

    def read_record(self, claim: Claim) -> ToolCallRecord | None: ...

    def unsettled(self, session_id: str) -> Sequence[Claim]:
        """Claims of the session's calls that are in progress, without their inputs, read consistently."""
        ...

    def page(
        self, session_id: str, page: PageRequest[RecordPosition]
    ) -> Page[ToolCallRecord, RecordPosition]:
        """A session's finished calls in the order they started, read consistently."""
        ...


class ClaimStorage(Protocol):
    """Free claims."""

    def put(self, claim: FreeClaim, guard: ClaimGuard) -> Refused[FreeClaim] | None:
        """As ``ToolCallStorage.put``."""
        ...

    def read(self, key_hash: str) -> FreeClaim | None:
        """Read consistently, expired or not."""
        ...


class TaskStorage(Protocol):
    def create(self, task: Task) -> None:
        """Put the task. Its id is new, so the only item it may meet is its own, of a lost answer."""
        ...

    def read(self, task_id: str) -> Task | None:
        """Read consistently, whoever asks, expired or not."""
        ...

    def read_all(self, task_ids: Sequence[str]) -> dict[str, Task]:
        """Those of up to 100 tasks that exist, by id, read consistently."""
        ...

    def put(self, task: Task, guard: ClaimGuard) -> Refused[Task] | None:
        """As ``ToolCallStorage.put``; one that finds its own work is written, too."""
        ...

    def settle(self, settlement: TaskSettlement) -> bool:
        """Write everything or nothing. False: nothing, or another request did; read, and judge again.

        Raises:
            PayloadTooLargeError: more than one transaction takes.
        """
        ...

    def due(
        self,
        tenant: str,
        queue: str,
        *,
        region: str,
        now_ms: int,
        limit: int,
        shuffle: Callable[[list[Any]], None],
    ) -> Iterator[Sequence[str]]:
        """Ids of tasks that may be there to be taken, the first due of one place after another.

        ``shuffle`` orders the places. Each part is read as it is asked for. Eventually consistent.
        """
        ...

    def overdue(self, *, region: str, now_ms: int) -> Iterator[Sequence[str]]:
        """Ids of tasks of any tenant that have come to their end by themselves, as ``due``."""
        ...

    def open_in(self, session_id: str) -> Sequence[Task]:
        """The tasks that are open in a session, the oldest first.

        Which there are is eventually consistent, each of them is read consistently.
        """
        ...

    def page(
        self, tenant: str, wanted: TaskFilter, *, now_ms: int, page: PageRequest[TaskPosition]
    ) -> Page[Task, TaskPosition]:
        """Tasks of a tenant: lane by lane, in each by queue and time. As consistent as ``open_in``."""
        ...


class KeyedTaskStorage(Protocol):
    """New tasks together with the claim of an idempotency key: both, or neither."""

    def create(self, task: Task, claim: KeyClaim) -> KeyClaim | None:
        """As ``KeyedStorage.create``."""
        ...

    def read_claim(self, key_hash: str) -> KeyClaim | None:
        """Read consistently, expired or not."""
        ...


class AuditStorage(Protocol):
    def put_event(self, event: AuditEvent) -> AuditEntry | None:
        """None when the event is kept now; else the entry that holds its key, of an earlier attempt."""
        ...

    def put(self, change: AuditChange) -> None:
        """Keep the change; one that is kept already is the same one, delivered again."""
        ...

    def page(self, session_id: str, page: PageRequest[AuditPosition]) -> Page[AuditEntry, AuditPosition]:
        """The trail of a session in time order, read consistently."""
        ...

    def page_of(self, pk: str, page: PageRequest[AuditPosition]) -> Page[AuditEntry, AuditPosition]:
        """As ``page``, of whatever has the key."""
        ...


class CleanupQueue(Protocol):
    def send(self, end: SessionEnd) -> None:
        """Ask for the clean-up after a session. Asked twice, it is done once."""
        ...


class Quarantine(Protocol):
    def keep(self, raw: Mapping[str, Any], *, name: str, reason: str) -> None:
        """Keep a record of the stream whole, under a name of its own; kept twice, it is there once."""
        ...


class ChildStorage(Protocol):
    """What lies beside a session's metadata, of whatever kind."""

    def first(self, session_id: str, *, limit: int) -> Sequence[str]:
        """The sort keys of the first children, in order, read consistently; none when there are none."""
        ...

    def erase(self, session_id: str, sks: Sequence[str]) -> None:
        """Delete these children; those that are gone already are no error."""
        ...

    def read_erasure(self, session_id: str) -> Erasure: ...

    def advance(self, session_id: str, before: Erasure, after: Erasure, *, ttl: int) -> Erasure:
        """Keep ``after`` until ``ttl`` if ``before`` is what is kept; returns what is kept then."""
        ...


class HeartbeatStorage(Protocol):
    def beat(self, heartbeat: Heartbeat) -> None:
        """Keep the heartbeat of its region in the place of the one before."""
        ...


class PayloadStorage(Protocol):
    """Objects by key, ``schema.payload_key``: one key, one content. They are no part of any transaction."""

    def put(self, key: str, text: bytes) -> None:
        """Keep the text. Put twice, it is there once.

        Raises:
            ThrottledError: it may be there; nothing refers to it.
        """
        ...

    def get(self, key: str) -> bytes | None:
        """What is there, read consistently; None where nothing is, or nothing that may be read.

        Raises:
            ThrottledError
        """
        ...

    def erase_some(self, session_id: str) -> bool:
        """Delete some of a session's objects; whether there may be more."""
        ...


class SecretStorage(Protocol):
    def read(self, name: str) -> str | None:
        """The text of a secret; None where there is no such secret.

        Raises:
            UnavailableError: it could not be asked now.
        """
        ...


class QuarantineCount(Protocol):
    def count(self) -> Quarantined: ...


class DeadLetterQueue(Protocol):
    """Letters that wait until somebody removes them."""

    def depth(self) -> int:
        """About how many there are, those that somebody holds among them."""
        ...

    def receive(self, *, most: int, hidden: int) -> Sequence[Letter]:
        """Up to ``most`` letters, which nobody else receives for ``hidden`` seconds; fewer prove nothing.

        None at all: there is none now that nobody else holds.
        """
        ...

    def remove(self, letter: Letter) -> None:
        """For good. One that somebody else has removed is no error."""
        ...

    def release(self, letters: Sequence[Letter]) -> None:
        """Give them back at once, to whoever asks next."""
        ...


class StreamHistory(Protocol):
    def read(self, span: ShardRange) -> Reread:
        """Exactly the records of the range that the stream still holds.

        Raises:
            ThrottledError: it could not be read to the end of the range now.
        """
        ...


class Revoker(Protocol):
    def revoke(self, credential: Credential) -> str | None:
        """Revoke a token at the authorization server; None when it is revoked, else why it cannot be.

        Raises:
            UnavailableError: the server asks to be tried again, or does not answer.
        """
        ...


class EventBus(Protocol):
    def emit(self, notices: Sequence[Notice]) -> None:
        """Send the notices, at most ``MAX_NOTICES`` at once.

        Raises:
            UndeliveredError: the bus did not take all of them.
        """
        ...


class StreamReplay(Protocol):
    def replay(self, records: Sequence[Mapping[str, Any]]) -> Sequence[int]:
        """Hand records to the consumer of the stream once more; the places of those that it did not take.

        Raises:
            ThrottledError: it was not reached, or its answer was lost; it may have taken some.
        """
        ...


class Storage(Struct, frozen=True, kw_only=True):
    """One adapter of each storage port."""

    sessions: SessionStorage
    keyed: KeyedStorage
    messages: MessageStorage
    checkpoints: CheckpointStorage
    tool_calls: ToolCallStorage
    claims: ClaimStorage
    tasks: TaskStorage
    keyed_tasks: KeyedTaskStorage
    audit: AuditStorage
    children: ChildStorage
    heartbeats: HeartbeatStorage
