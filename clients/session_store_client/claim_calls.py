"""``/claims``: work under an idempotency key, without a session. Functions as in ``session_calls``.

The same rules as for tool calls: ``begin_claim`` gives one attempt a lease and a ``fence``, every later step
passes the fence. ``lease_seconds`` is 1 to 3600.
"""

from typing import Any, Literal

from session_store_client.answers import BegunClaim, Claim
from session_store_client.calls import Call, claim_path, given, read
from session_store_client.claim_steps import attempt_body, begin, extend, reconcile, settle


def begin_claim(
    key: str,
    *,
    input: Any,  # noqa: A002, ANN401 - any JSON value, named as in the contract
    attempt_id: str | None = None,
    lease_seconds: int | None = None,
    retry_safe: bool = False,
    retain_seconds: int | None = None,
) -> Call[BegunClaim]:
    """Claim a key. Do its work only if the answer's status is ``in_progress``; otherwise it was done before.

    ``attempt_id``, ``lease_seconds`` and ``retry_safe`` as in ``begin_tool_call``. ``retain_seconds``: how
    long the claim stays after its last write, at most 7776000 (default 86400), and at least a day after its
    lease; then the key is free again, also when its outcome is still unknown.

    Retried as the same attempt after a lost response. A second call with the same ``attempt_id`` is safe to
    repeat.

    Raises:
        InProgressError: another attempt still holds the lease after the client's retries.
        UnreconciledError: an attempt whose lease expired may have done the work: find out, then
            ``reconcile_claim``.
        IdempotencyMismatchError: the key was used with another input.
        MisdirectedError: the key's home is another region.
        OutcomeUnknownError: the lease may have been taken; begin again with the same ``attempt_id``.
    """
    body = attempt_body(input, attempt_id, lease_seconds, retry_safe=retry_safe)
    return begin("PUT", claim_path(key), BegunClaim, {**body, **given(retainSeconds=retain_seconds)})


def get_claim(key: str) -> Call[Claim]:
    """Read a claim, in progress or settled. Safe to repeat.

    Raises:
        NotFoundError: the key is free.
    """
    return read(claim_path(key), Claim)


def complete_claim(key: str, *, fence: int, output: Any) -> Call[Claim]:  # noqa: ANN401 - any JSON value
    """Settle a claim as completed. Safe to repeat with the same output: the store recognises the outcome.

    Raises:
        FencedError: another attempt has taken over, or the claim is settled otherwise: stop working on it.
        IdempotencyMismatchError: it was settled before with another outcome.
        NotFoundError: the key is free.
        PayloadTooLargeError: the output exceeds the limit.
    """
    return settle(f"{claim_path(key)}/complete", Claim, {"fence": fence, "output": output})


def fail_claim(key: str, *, fence: int, error: Any) -> Call[Claim]:  # noqa: ANN401 - any JSON value
    """Settle a claim as failed: a final outcome. Safe to repeat, and raises, as ``complete_claim``."""
    return settle(f"{claim_path(key)}/fail", Claim, {"fence": fence, "error": error})


def extend_claim(key: str, *, fence: int, lease_seconds: int) -> Call[Claim]:
    """Extend the lease to ``lease_seconds`` from now. Safe to repeat.

    Raises:
        FencedError: another attempt has taken over, or the claim is settled: stop working on it.
        NotFoundError: the key is free.
    """
    return extend(claim_path(key), Claim, fence=fence, lease_seconds=lease_seconds)


def reconcile_claim(
    key: str,
    *,
    fence: int,
    outcome: Literal["completed", "failed", "retry"],
    output: Any = None,  # noqa: ANN401 - any JSON value
    error: Any = None,  # noqa: ANN401 - likewise
) -> Call[Claim]:
    """Settle a claim whose outcome is unknown, or let its work be done again (``retry``).

    ``fence``: of the attempt that was looked into, as ``get_claim`` shows it. Retried, and raises, as
    ``reconcile_tool_call``.
    """
    return reconcile(claim_path(key), Claim, fence=fence, outcome=outcome, output=output, error=error)
