"""Claims on free idempotency keys."""

from typing import Any, Literal

from session_store_client.answers.base import Answer


class Claim(Answer, frozen=True):
    """``lease_until`` is None once the claim is settled."""

    key: str
    status: Literal["in_progress", "completed", "failed"]
    input: Any
    output: Any
    error: Any
    started_at: str
    completed_at: str | None
    fence: int
    lease_until: str | None
    ttl: int


class BegunClaim(Claim, frozen=True):
    """``in_progress``: do the work. ``completed`` or ``failed``: its outcome is here, do not do it.

    ``downstream_token`` is the same for every attempt: an idempotency key for the service the work calls.
    """

    downstream_token: str
