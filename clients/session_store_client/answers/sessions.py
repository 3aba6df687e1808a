"""Sessions, and what is read together with them: history, recovery, audit."""

from collections.abc import Mapping
from typing import Any, Literal

from session_store_client.answers.base import Answer, Page
from session_store_client.answers.checkpoints import Checkpoint
from session_store_client.answers.tasks import OpenTask
from session_store_client.answers.tool_calls import OpenCall, ToolCall

StatusName = Literal["initializing", "active", "closing", "closed"]


class Session(Answer, frozen=True):
    """``version`` rises with every write; pass it as ``version`` or ``min_version``.

    ``idle_timeout`` is in seconds.
    """

    session_id: str
    status: StatusName
    version: int
    state: Mapping[str, Any]
    protocol: Mapping[str, Any]
    subject: str
    created_at: str
    updated_at: str
    ttl: int
    expires_at: str
    max_expires_at: str
    idle_timeout: int
    home_region: str


class SessionSummary(Answer, frozen=True):
    """A session in a list: without its state, version and protocol."""

    session_id: str
    status: StatusName
    subject: str
    created_at: str
    ttl: int
    expires_at: str
    max_expires_at: str
    idle_timeout: int
    home_region: str


class ExpiringSession(Answer, frozen=True):
    """A session of any tenant that expires soon, as an operator sees it."""

    session_id: str
    status: StatusName
    tenant: str
    subject: str
    ttl: int
    expires_at: str
    home_region: str


class HistoryPage(Page[ToolCall], frozen=True):
    """A session with a page of its finished tool calls."""

    session: Session


class Recovery(Answer, frozen=True):
    """What another worker needs to go on with a session.

    ``in_flight``: calls under a lease, or free to be begun again. ``outcome_unknown``: calls to reconcile
    first. ``open_tasks`` come from an index, so a task that has just changed may be missing for a moment.
    Of each the hundred oldest; ``more`` says whether there are more.
    """

    in_flight: tuple[OpenCall, ...]
    outcome_unknown: tuple[OpenCall, ...]
    open_tasks: tuple[OpenTask, ...]
    more: bool
    checkpoint: Checkpoint | None


class Difference(Answer, frozen=True):
    """A changed value at a JSON Pointer. ``old`` is None if it was added, ``new`` if it was removed."""

    op: Literal["added", "removed", "changed"]
    path: str
    old: Any
    new: Any


class AuditEntry(Answer, frozen=True):
    """A ``change`` read from the table's stream, or an ``event`` written in the transaction of its own write.

    ``sequence_number`` is the stream record's.
    """

    kind: Literal["change", "event"]
    event_name: str
    at: str
    actor: str | None
    region: str
    changes: tuple[Difference, ...]
    facts: Mapping[str, Any]
    sequence_number: str | None
