"""The bodies of answers about tool calls that are being run."""

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
    """`downstreamToken`: the same for every attempt, for a service that takes idempotency keys."""

    downstream_token: str


class SessionVersion(Answer, frozen=True):
    version: int
    ttl: int


class FinishedToolCall(ToolCallAnswer, frozen=True):
    """`session` is null where it is gone. `tasks`: ids of those that were created with the call."""

    session: SessionVersion | None
    tasks: list[str]


class OpenCall(Answer, frozen=True):
    """A call that is not settled, without its input."""

    tool_call_id: str
    tool_name: str
    status: Literal["in_progress"]
    started_at: str
    fence: int
    lease_until: str
    retry_safe: bool


def begun_answer(begun: BeginResult) -> BegunToolCall:
    fields = tool_call_fields(begun.record or begun.claim)
    return BegunToolCall(**fields, downstream_token=tool_call.downstream_token(begun.claim))


def finished_answer(finished: FinishResult) -> FinishedToolCall:
    fields = tool_call_fields(finished.record or finished.claim)
    return FinishedToolCall(**fields, session=_version(finished.session), tasks=list(finished.tasks))


def _version(session: Session | None) -> SessionVersion | None:
    return None if session is None else SessionVersion(version=session.version, ttl=session.ttl)


def open_call(claim: Claim) -> OpenCall:
    return OpenCall(
        tool_call_id=claim.tool_call_id,
        tool_name=claim.tool_name,
        status="in_progress",
        started_at=iso(claim.started_at),
        fence=claim.fence,
        lease_until=iso(claim.lease_until_ms),
        retry_safe=claim.retry_safe,
    )
