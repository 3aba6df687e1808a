"""Replays of settled tool calls, which are answered even after their session has ended."""

from typing import Protocol

from session_store.domain.caller import Caller
from session_store.domain.claim import check_repeat
from session_store.domain.session import owner_of
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.errors import (
    IdempotencyMismatchError,
    NotFoundError,
    SessionClosedError,
    SessionNotFoundError,
)
from session_store.ports import ToolCallStorage


class CallRequest(Protocol):
    """A request about one call."""

    @property
    def tool_call_id(self) -> str: ...

    def check_repeats(self, claim: Claim) -> None:
        """Check that the claim is that of the same call.

        Raises:
            IdempotencyMismatchError, InProgressError
        """
        ...


def read_settled_claim(
    storage: ToolCallStorage,
    caller: Caller,
    session_id: str,
    call: CallRequest,
    *,
    ended: SessionClosedError | SessionNotFoundError,
) -> Claim:
    """Read the claim of a call that was settled before its session ended; it answers replays until expired.

    With the session gone, any other request gets the same answer as for an unknown session.

    Raises:
        IdempotencyMismatchError: the session exists, and the call id was used for another call.
        SessionClosedError, SessionNotFoundError: ``ended``, where the caller has no such settled call.
    """
    claim = storage.read_call(session_id, call.tool_call_id).claim
    if claim is None or claim.owner != owner_of(caller) or not claim.is_settled:
        raise ended
    try:
        call.check_repeats(claim)
    except IdempotencyMismatchError:
        if isinstance(ended, SessionNotFoundError):
            raise ended from None
        raise
    return claim


def check_input(claim: Claim, *, input_hash: str) -> None:
    """Check that the claim is settled, and for the same tool and input.

    Raises:
        IdempotencyMismatchError, InProgressError
    """
    mismatch = "The call id was used before with another tool or input."
    check_repeat(claim, input_hash=input_hash, mismatch=mismatch)


def read_settled_record(storage: ToolCallStorage, claim: Claim) -> ToolCallRecord:
    """Read the record of a settled call.

    Raises:
        NotFoundError: it was erased with its session, and the claim is about to be.
    """
    record = storage.read_record(claim)
    if record is None:
        raise NotFoundError("The call is settled, but its record has been erased.")
    return record
