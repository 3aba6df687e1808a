"""The bodies of answers about claims: tool calls that are being run, and free keys."""

from typing import Any, Literal

from session_api.answers import Answer, ToolCallAnswer, tool_call_fields
from session_store.domain import free_claim, tool_call
from session_store.domain.claim import SETTLED
from session_store.domain.free_claim import FreeClaim
from session_store.domain.session import Session
from session_store.domain.times import iso
from session_store.domain.tool_call import Claim
from session_store.services.finished_calls import Finished
from session_store.services.running_calls import Begun

ClaimStatusName = Literal["in_progress", "completed", "failed"]


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


class ClaimAnswer(Answer, frozen=True):
    key: str
    status: ClaimStatusName
    input: Any
    output: Any
    error: Any
    started_at: str
    completed_at: str | None
    fence: int
    lease_until: str | None
    ttl: int


class BegunClaim(ClaimAnswer, frozen=True):
    """`downstreamToken`: the same for every attempt, for a service that takes idempotency keys."""

    downstream_token: str


def begun_answer(begun: Begun) -> BegunToolCall:
    fields = tool_call_fields(begun.record or begun.claim)
    return BegunToolCall(**fields, downstream_token=tool_call.downstream_token(begun.claim))


def finished_answer(finished: Finished) -> FinishedToolCall:
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


def claim_answer(key: str, claim: FreeClaim) -> ClaimAnswer:
    return ClaimAnswer(**_claim_fields(key, claim))


def begun_claim_answer(key: str, claim: FreeClaim) -> BegunClaim:
    return BegunClaim(**_claim_fields(key, claim), downstream_token=free_claim.downstream_token(claim))


def _claim_fields(key: str, claim: FreeClaim) -> dict[str, Any]:
    return {
        "key": key,
        "status": claim.status.value,
        "input": claim.input,
        "output": claim.output,
        "error": claim.error,
        "started_at": iso(claim.started_at),
        "completed_at": None if claim.completed_at is None else iso(claim.completed_at),
        "fence": claim.fence,
        "lease_until": None if claim.status in SETTLED else iso(claim.lease_until_ms),
        "ttl": claim.ttl,
    }
