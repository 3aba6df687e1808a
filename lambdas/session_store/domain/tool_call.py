"""Tool calls: the claim that one attempt holds, and the record that it leaves."""

from dataclasses import dataclass
from typing import Final

from session_store.domain.claim import AnyClaim, ClaimStatus
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author

DAY: Final = 86_400
MAX_DURATION_MS: Final = DAY * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(AnyClaim):
    """Who may finish a call, and how it ended."""

    session_id: str
    tool_call_id: str
    tool_name: str
    outcome_hash: str
    fence: int
    lease_until_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRecord:
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


def claim_ttl(*, session_ends: int, lease_until_ms: int) -> int:
    """A claim stays with its session, and at least a day after its lease."""
    return max(session_ends, lease_until_ms // 1000 + DAY)
