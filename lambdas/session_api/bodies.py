"""The bodies of requests: their shapes, ranges and what they mean to a use case."""

from typing import Annotated, Any, Final, Literal

import msgspec

from session_store.domain.checkpoint import SHORTEST_RETENTION
from session_store.domain.claim import DAY
from session_store.domain.identifiers import MAX_IDENTIFIER
from session_store.domain.message import MAX_BATCH
from session_store.domain.state_operations import StateOperations
from session_store.domain.task import DEFAULT_RETENTION, LONGEST_RETENTION_DAYS, MAX_NEXT, TaskKind
from session_store.domain.times import from_iso
from session_store.domain.tool_call import MAX_DURATION_MS
from session_store.domain.window import LONGEST_LIFE
from session_store.errors import InvalidRequestError
from session_store.services.births import NewSession
from session_store.services.checkpoint_births import NewCheckpoint
from session_store.services.context import NewMessage
from session_store.services.new_tasks import NewTask
from session_store.services.tool_calls import FinishedCall

SEVEN_DAYS: Final = 604_800
THIRTY_DAYS: Final = 2_592_000
RETENTION_DAYS: Final = DEFAULT_RETENTION // DAY


class Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A JSON object in which nothing unknown is passed over in silence."""


class CreateSession(Body, frozen=True):
    """``idleTimeout`` and ``maxLifetime`` in seconds."""

    idle_timeout: Annotated[int, msgspec.Meta(ge=10, le=SEVEN_DAYS)] = 3600
    max_lifetime: Annotated[int, msgspec.Meta(ge=10, le=LONGEST_LIFE)] = THIRTY_DAYS
    state: dict[str, Any] = {}
    protocol: dict[str, Any] = {}
    credential_refs: Annotated[list[str], msgspec.Meta(max_length=10)] = []

    def meaning(self) -> NewSession:
        return NewSession(
            idle_timeout=self.idle_timeout,
            max_lifetime=self.max_lifetime,
            state=self.state,
            protocol=self.protocol,
            credential_refs=self.credential_refs,
        )


class ChangeState(Body, frozen=True):
    """Operations on top-level keys of the state, each key in one of them."""

    set: dict[str, Any] = {}
    remove: list[str] = []
    increment: dict[str, Any] = {}
    append: dict[str, Any] = {}

    def meaning(self) -> StateOperations:
        return StateOperations(set=self.set, remove=self.remove, increment=self.increment, append=self.append)


class MoveSession(Body, frozen=True):
    to: Literal["active", "closing", "closed"]


class DrainSessions(Body, frozen=True):
    """``withinSeconds``: how soon the sessions end that are to be moved."""

    within_seconds: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_LIFE)]


class RedriveLetters(Body, frozen=True):
    """Both queues where ``queue`` names none; ``max`` letters at the most."""

    queue: Literal["stream", "cleanup"] | None = None
    max: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20


class NewMessageBody(Body, frozen=True):
    content: Any
    message_id: str | None = None


class AppendMessages(Body, frozen=True):
    messages: Annotated[list[NewMessageBody], msgspec.Meta(min_length=1, max_length=MAX_BATCH)]
    atomic: bool = False

    def meaning(self) -> list[NewMessage]:
        return [NewMessage(content=new.content, message_id=new.message_id) for new in self.messages]


class AddCheckpoint(Body, frozen=True):
    """``retainSeconds``: ends sooner than its session may. Without it, with its session."""

    data: Any
    namespace: Annotated[str, msgspec.Meta(max_length=MAX_IDENTIFIER)] = ""
    checkpoint_id: str | None = None
    parent_id: str | None = None
    retain_seconds: Annotated[int, msgspec.Meta(ge=SHORTEST_RETENTION, le=LONGEST_LIFE)] | None = None

    def meaning(self) -> NewCheckpoint:
        return NewCheckpoint(
            data=self.data,
            namespace=self.namespace,
            checkpoint_id=self.checkpoint_id,
            parent_id=self.parent_id,
            retain_seconds=self.retain_seconds,
        )


class RecordToolCall(Body, frozen=True):
    """A call that has been run. ``startedAt`` is ISO 8601 with a zone; with an ``error`` the call failed."""

    tool_name: str
    input: Any
    duration_ms: Annotated[int, msgspec.Meta(ge=0, le=MAX_DURATION_MS)]
    output: Any = None
    error: Any = None
    started_at: str | None = None

    def meaning(self, tool_call_id: str) -> FinishedCall:
        return FinishedCall(
            tool_call_id=tool_call_id,
            tool_name=self.tool_name,
            input=self.input,
            output=self.output,
            error=self.error,
            duration_ms=self.duration_ms,
            started_at=moment(self.started_at, path="$.startedAt"),
        )


class CreateTask(Body, frozen=True):
    """`dueAt` and `deadline` are ISO 8601 with a zone; without `dueAt` a task is due at once.

    `retainDays`: how long it stays when it is over.
    """

    queue: str
    payload: Any
    kind: Literal["task", "approval"] = "task"
    due_at: str | None = None
    deadline: str | None = None
    session_id: str | None = None
    retain_days: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_RETENTION_DAYS)] = RETENTION_DAYS

    def meaning(self, at: str = "$") -> NewTask:
        """``at``: where the body stands."""
        return NewTask(
            queue=self.queue,
            payload=self.payload,
            kind=TaskKind(self.kind),
            due_at=moment(self.due_at, path=f"{at}.dueAt"),
            deadline=moment(self.deadline, path=f"{at}.deadline"),
            session_id=self.session_id,
            retain_days=self.retain_days,
        )


Following = Annotated[list[CreateTask], msgspec.Meta(max_length=MAX_NEXT)]


def meanings(bodies: list[CreateTask], at: str) -> list[NewTask]:
    return [body.meaning(f"{at}[{position}]") for position, body in enumerate(bodies)]


def moment(text: str | None, *, path: str) -> int | None:
    """Milliseconds since the epoch; None where there is no text.

    Raises:
        InvalidRequestError: no time, or one without a zone.
    """
    if text is None:
        return None
    try:
        return from_iso(text)
    except ValueError as error:
        detail = "Must be an ISO 8601 time with a zone, like 2026-01-31T08:30:00.123Z"
        raise InvalidRequestError(detail, path=path) from error
