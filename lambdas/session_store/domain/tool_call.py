"""Tool calls: the claim that one attempt holds, and the record of a finished call."""

from typing import Final

from msgspec import Struct

from session_store.domain.claim import MIN_LEASE, ClaimStatus, LeasedClaim
from session_store.domain.fingerprints import fingerprint
from session_store.domain.identifiers import MAX_TOOL_CALL_ID, check_identifier
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author
from session_store.domain.times import DAY_SECONDS, MILLIS
from session_store.domain.tokens import token_of
from session_store.domain.whole_numbers import check_whole

MAX_DURATION_MS: Final = DAY_SECONDS * MILLIS
LEASE_RESERVE: Final = 60
"""Seconds that a session outlives the lease of every call in it."""


class Claim(LeasedClaim, frozen=True, kw_only=True):
    """The claim of a tool call. ``input`` is None once it is settled: the record has it."""

    session_id: str
    tool_call_id: str
    tool_name: str
    input: JsonValue = None


class ToolCallRecord(Struct, frozen=True, kw_only=True):
    """A finished call. Instants in milliseconds since the epoch.

    Between storage and use case, a payload may be a ``StoredPayload`` in place of the value.
    """

    session_id: str
    tool_call_id: str
    tool_name: str
    status: ClaimStatus
    input: JsonValue
    output: JsonValue
    error: JsonValue
    started_at: int
    completed_at: int
    duration_ms: int
    fence: int
    ttl: int
    author: Author


def check_call_id(tool_call_id: str) -> None:
    """Check the form of a call's id.

    Raises:
        InvalidRequestError
    """
    check_identifier(tool_call_id, path="toolCallId", longest=MAX_TOOL_CALL_ID)


def check_duration(duration_ms: int) -> None:
    """Check how long a call took, in milliseconds.

    Raises:
        InvalidRequestError
    """
    check_whole(duration_ms, least=0, most=MAX_DURATION_MS, path="$.durationMs", unit="milliseconds")


def call_hash(tool_name: str, value: JsonValue) -> str:
    """The fingerprint of what a call id is used for: one tool with one input."""
    return fingerprint("tool-call", {"toolName": tool_name, "input": value})


def lease_until(now_ms: int, *, lease_seconds: int, max_expires_at: int) -> int:
    """When a lease granted now expires: at least a minute before the longest life of its session ends.

    A session in its last minute still grants leases of one second.
    """
    last = (max_expires_at - LEASE_RESERVE) * MILLIS
    return max(now_ms + MIN_LEASE * MILLIS, min(now_ms + lease_seconds * MILLIS, last))


def session_needed_until(lease_until_ms: int) -> int:
    """Epoch second up to which a session must live, so that it does not expire while the tool runs."""
    return -(-lease_until_ms // MILLIS) + LEASE_RESERVE


def downstream_token(claim: Claim) -> str:
    """An idempotency key for services that the tool calls: the same for every attempt."""
    return token_of("tool-call", claim.session_id, claim.tool_call_id)
