"""Claims of tool calls, and free claims."""

from collections.abc import Sequence
from typing import Generic, Protocol

from msgspec import Struct

from session_store.domain.claim import ClaimGuard, ClaimT
from session_store.domain.free_claim import FreeClaim
from session_store.domain.page import (
    Page,
    PageRequest,
    RecordPosition,
)
from session_store.domain.settlement import CallSnapshot, Settlement
from session_store.domain.tool_call import Claim, ToolCallRecord


class Refused(Struct, Generic[ClaimT], frozen=True, kw_only=True):
    """A write that was refused. ``held``: the item that is stored instead, if any."""

    held: ClaimT | None


class ToolCallStorage(Protocol):
    def put(self, claim: Claim, guard: ClaimGuard) -> Refused[Claim] | None:
        """Write the claim on the condition of the guard.

        None when it was written, by this request or by an earlier attempt whose response was lost.
        """
        ...

    def settle(self, settlement: Settlement) -> bool:
        """Write everything or nothing.

        False when nothing was written: the claim or a message has changed since it was read, or another
        request with the same token is in progress. Read and judge again.

        Raises:
            StoreError: a clause of the session's guard does not hold.
            PayloadTooLargeError: too much for one transaction, or the session would exceed 400 KB.
        """
        ...

    def read_call(
        self, session_id: str, tool_call_id: str, *, message_ids: Sequence[str] = ()
    ) -> CallSnapshot:
        """Read the call's claim, its session and those of the messages that exist, consistently."""
        ...

    def read_record(self, claim: Claim) -> ToolCallRecord | None:
        """Read the record of a settled call consistently."""
        ...

    def unsettled(self, session_id: str) -> Sequence[Claim]:
        """Read the claims of the session's calls in progress, without their inputs, consistently."""
        ...

    def page(
        self, session_id: str, page: PageRequest[RecordPosition]
    ) -> Page[ToolCallRecord, RecordPosition]:
        """Read a session's finished calls in the order of their start, consistently."""
        ...


class ClaimStorage(Protocol):
    """Free claims: those without a session."""

    def put(self, claim: FreeClaim, guard: ClaimGuard) -> Refused[FreeClaim] | None:
        """As ``ToolCallStorage.put``."""
        ...

    def read(self, key_hash: str) -> FreeClaim | None:
        """Read a claim consistently, expired or not."""
        ...
