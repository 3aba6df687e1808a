"""Response bodies about tool calls that are run under a lease."""

from typing import Literal

from session_api.answers import Answer
from session_api.tool_call_answers import ToolCallAnswer, tool_call_fields
from session_store.domain import tool_call
from session_store.domain.session import Session
from session_store.domain.times import iso
from session_store.domain.tool_call import Claim
from session_store.services.tool_calls.begin import BeginResult
from session_store.services.tool_calls.finish import FinishResult


class BegunToolCall(ToolCallAnswer, frozen=True):
    """The call with the token for a service downstream."""

    downstream_token: str
    """An idempotency key for a service downstream, such as a payment API: the same for every attempt."""


class SessionVersion(Answer, frozen=True):
    """The session after the call ended."""

    version: int
    """The session's version."""

    ttl: int
    """When the session expires unless it is used before, in epoch seconds."""


class FinishedToolCall(ToolCallAnswer, frozen=True):
    """The call with its outcome, and what was changed with it."""

    session: SessionVersion | None
    """The session after the call; null where the session has ended."""

    tasks: list[str]
    """The ids of the tasks created with the call, in the order of the request."""


class OpenCall(Answer, frozen=True):
    """A call that is not settled, without its input."""

    tool_call_id: str
    """The caller's id of the call, unique within the session."""

    tool_name: str
    """The tool that is called."""

    status: Literal["in_progress"]
    """Always `in_progress`, also after the lease has expired."""

    started_at: str
    """When the first attempt began."""

    fence: int
    """The fencing token of the current attempt. It rises with every attempt."""

    lease_until: str
    """When the current lease expires."""

    retry_safe: bool
    """Whether the call may be run again if its lease expires without an outcome."""


def begun_answer(begun: BeginResult) -> BegunToolCall:
    fields = tool_call_fields(begun.record or begun.claim)
    return BegunToolCall(**fields, downstream_token=tool_call.downstream_token(begun.claim))


def finished_answer(finished: FinishResult) -> FinishedToolCall:
    fields = tool_call_fields(finished.record or finished.claim)
    return FinishedToolCall(**fields, session=_session_version(finished.session), tasks=list(finished.tasks))


def _session_version(session: Session | None) -> SessionVersion | None:
    return None if session is None else SessionVersion(version=session.version, ttl=session.ttl)


def open_call_answer(claim: Claim) -> OpenCall:
    return OpenCall(
        tool_call_id=claim.tool_call_id,
        tool_name=claim.tool_name,
        status="in_progress",
        started_at=iso(claim.started_at),
        fence=claim.fence,
        lease_until=iso(claim.lease_until_ms),
        retry_safe=claim.retry_safe,
    )
