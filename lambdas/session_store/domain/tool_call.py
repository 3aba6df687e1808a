"""Tool calls: the claim that one attempt holds, and the record that it leaves."""

from typing import Final

from msgspec import Struct

from session_store.domain.claim import DAY, MIN_LEASE, ClaimStatus, LeasedClaim
from session_store.domain.fingerprints import fingerprint
from session_store.domain.identifiers import MAX_TOOL_CALL_ID, check_identifier
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author
from session_store.domain.times import MILLIS
from session_store.domain.tokens import token_of

MAX_DURATION_MS: Final = DAY * MILLIS
LEASE_RESERVE: Final = 60
"""Seconds that a session outlives the lease of any call in it."""


class Claim(LeasedClaim, frozen=True, kw_only=True):
    """Who may finish a call, and how it ended. The record has the input, once there is one."""

    session_id: str
    tool_call_id: str
    tool_name: str
    input: JsonValue = None


class ToolCallRecord(Struct, frozen=True, kw_only=True):
    """A finished call. Instants in milliseconds since the epoch.

    Between storage and use case a payload may be a ``StoredPayload`` that stands for it.
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


def call_hash(tool_name: str, value: JsonValue) -> str:
    """The fingerprint of what a call id is used for: one tool with one input."""
    return fingerprint("tool-call", {"toolName": tool_name, "input": value})


def lease_until(now_ms: int, *, lease_seconds: int, session_ends: int) -> int:
    """When a lease given now is over: a minute before the session's last second, however long it was to be.

    A session in its last minute still gives leases, of a second.
    """
    last = (session_ends - LEASE_RESERVE) * MILLIS
    return max(now_ms + MIN_LEASE * MILLIS, min(now_ms + lease_seconds * MILLIS, last))


def session_needed_until(lease_until_ms: int) -> int:
    """The epoch second up to which a session must live for a lease, so that it never dies under a tool."""
    return -(-lease_until_ms // MILLIS) + LEASE_RESERVE


def downstream_token(claim: Claim) -> str:
    """What the tool hands to a service that takes idempotency keys: the same for every attempt."""
    return token_of("tool-call", claim.session_id, claim.tool_call_id)
