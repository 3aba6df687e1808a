"""Checks that requests about tool calls, free claims and tasks share."""

from session_store.domain.claim import MAX_LEASE, MIN_LEASE, SETTLED, ClaimStatus
from session_store.domain.identifiers import check_identifier
from session_store.domain.json_values import JsonValue, check
from session_store.domain.whole_numbers import check_whole
from session_store.errors import InvalidRequestError


def check_begin(*, attempt_id: str | None, lease_seconds: int) -> None:
    """Check the attempt's id and its lease.

    Raises:
        InvalidRequestError: names the path.
    """
    if attempt_id is not None:
        check_identifier(attempt_id, path="$.attemptId")
    check_lease(lease_seconds)


def check_lease(lease_seconds: int) -> None:
    """Check the length of a lease.

    Raises:
        InvalidRequestError: names the path.
    """
    check_whole(lease_seconds, least=MIN_LEASE, most=MAX_LEASE, path="$.leaseSeconds", unit="seconds")


def check_outcome(status: ClaimStatus, *, output: JsonValue, error: JsonValue) -> None:
    """Check that the status is settled, and that output and error go with it and can be stored.

    Raises:
        InvalidRequestError: names the path.
    """
    check(output, path="$.output")
    check(error, path="$.error")
    if status not in SETTLED:
        raise InvalidRequestError("An outcome is completed or failed", path="$.outcome")
    if output is not None and status is not ClaimStatus.COMPLETED:
        raise InvalidRequestError("Only a completed outcome has an output", path="$.output")
    if error is not None and status is not ClaimStatus.FAILED:
        raise InvalidRequestError("Only a failed outcome has an error", path="$.error")
