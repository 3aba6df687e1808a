"""The end of a tool call: everything that one transaction writes."""

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
    """The contents of the transaction. ``guard`` is the claim's; ``record`` is None if the claim stays open.

    ``write`` is None if the session does not change. Its metadata stays out of the transaction then, because
    all calls of the session would contend for it. ``condition`` is a condition on the session that was asked
    for without a change.
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
    """A call's claim with its session and messages, read together; owner and expiry are not checked yet."""

    session: Session | None
    claim: Claim | None
    messages: Mapping[str, Message] = field(default_factory=dict)


def settlement_token(claim: Claim, *, fence: int, operation: str, outcome_hash: str) -> str:
    """The ``ClientRequestToken`` of a settlement: DynamoDB knows a repeated one for ten minutes."""
    return token_of(claim.session_id, claim.tool_call_id, fence, operation, outcome_hash)
