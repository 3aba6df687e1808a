"""The end of a tool call: everything that it writes, in one transaction."""

from collections.abc import Mapping

from msgspec import Struct, field

from session_store.domain.audit_event import AuditEvent
from session_store.domain.claim import ClaimGuard
from session_store.domain.message import Message
from session_store.domain.session import Session
from session_store.domain.session_write import Guard, SessionWrite
from session_store.domain.task import Task
from session_store.domain.tokens import token_of
from session_store.domain.tool_call import Claim, ToolCallRecord


class Settlement(Struct, frozen=True, kw_only=True):
    """``guard`` is of the claim. ``record`` is None where the claim goes on.

    ``write`` is None where the session stays as it is, which keeps its metadata out of the
    transaction: it would be what all calls of a session meet on. ``condition``: what must hold
    of it all the same, where that was asked for.
    """

    claim: Claim
    guard: ClaimGuard
    record: ToolCallRecord | None
    event: AuditEvent
    token: str
    write: SessionWrite | None = None
    condition: Guard | None = None
    messages: tuple[Message, ...] = ()
    tasks: tuple[Task, ...] = ()


class CallSnapshot(Struct, frozen=True, kw_only=True):
    """A call and what is around it, read in one go; whose it is, and whether it is over, is to be judged."""

    session: Session | None
    claim: Claim | None
    messages: Mapping[str, Message] = field(default_factory=dict)


def settlement_token(claim: Claim, *, fence: int, operation: str, outcome_hash: str) -> str:
    """What makes a resent transaction the same one, for ten minutes; the conditions guard for ever after."""
    return token_of(claim.session_id, claim.tool_call_id, fence, operation, outcome_hash)
