"""Claims: of tool calls and free keys."""

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
    """A claim was not written; ``held`` is what was there instead, if anything was."""

    held: ClaimT | None


class ToolCallStorage(Protocol):
    def put(self, claim: Claim, guard: ClaimGuard) -> Refused[Claim] | None:
        """Write the claim if what is there is what the guard asks for.

        None when written: by this request, or where it finds its own work, by one whose answer was lost.
        """
        ...

    def settle(self, settlement: Settlement) -> bool:
        """Write everything or nothing.

        False: nothing, for the claim or a message is not what it was taken for, or another
        request of the same token is at work; read, and judge again.

        Raises:
            StoreError: a clause of the session's guard does not hold.
            PayloadTooLargeError: more than one transaction takes, or the session would pass 400 KB.
        """
        ...

    def read_call(
        self, session_id: str, tool_call_id: str, *, message_ids: Sequence[str] = ()
    ) -> CallSnapshot:
        """The call's claim, its session and those of the messages that are there, read consistently."""
        ...

    def read_record(self, claim: Claim) -> ToolCallRecord | None: ...

    def unsettled(self, session_id: str) -> Sequence[Claim]:
        """Claims of the session's calls that are in progress, without their inputs, read consistently."""
        ...

    def page(
        self, session_id: str, page: PageRequest[RecordPosition]
    ) -> Page[ToolCallRecord, RecordPosition]:
        """A session's finished calls in the order they started, read consistently."""
        ...


class ClaimStorage(Protocol):
    """Free claims."""

    def put(self, claim: FreeClaim, guard: ClaimGuard) -> Refused[FreeClaim] | None:
        """As ``ToolCallStorage.put``."""
        ...

    def read(self, key_hash: str) -> FreeClaim | None:
        """Read consistently, expired or not."""
        ...
