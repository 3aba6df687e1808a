"""Tool calls that are settled: what they answer, also when their session has ended."""

from typing import Protocol

from session_store.domain.caller import Caller
from session_store.domain.claim import SETTLED, check_repeat
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
    """A call as a request has it."""

    @property
    def tool_call_id(self) -> str: ...

    def check_repeats(self, claim: Claim) -> None:
        """Pass where the claim is of this very call.

        Raises:
            IdempotencyMismatchError, InProgressError
        """
        ...


def settled_before_end(
    storage: ToolCallStorage,
    caller: Caller,
    session_id: str,
    call: CallRequest,
    *,
    ended: SessionClosedError | SessionNotFoundError,
) -> Claim:
    """The claim of a call that was settled before its session ended: it is its answer until it is reaped.

    Whatever else is asked of a session that is gone, the call is as absent as that.

    Raises:
        IdempotencyMismatchError: the session is there, and its call is another.
        SessionClosedError, SessionNotFoundError: ``ended``: there is none that the caller may be told of.
    """
    claim = storage.read_call(session_id, call.tool_call_id).claim
    if claim is None or claim.owner != owner_of(caller) or claim.status not in SETTLED:
        raise ended
    try:
        call.check_repeats(claim)
    except IdempotencyMismatchError:
        if isinstance(ended, SessionNotFoundError):
            raise ended from None
        raise
    return claim


def check_input(claim: Claim, *, input_hash: str) -> None:
    """Raises IdempotencyMismatchError, InProgressError."""
    mismatch = "The call id was used before with another tool or input."
    check_repeat(claim, input_hash=input_hash, mismatch=mismatch)


def read_settled_record(storage: ToolCallStorage, claim: Claim) -> ToolCallRecord:
    """Raises:
    NotFoundError: it went with its session, and the claim is to go.
    """
    record = storage.read_record(claim)
    if record is None:
        raise NotFoundError("The call is settled, but its record is gone.")
    return record
