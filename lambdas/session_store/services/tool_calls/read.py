"""Tool calls as they are read: one in any state, and the history of finished ones."""

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import Caller
from session_store.domain.identifiers import check_session_id
from session_store.domain.page import Page, PageRequest, RecordPosition
from session_store.domain.session import Session
from session_store.domain.times import is_expired
from session_store.domain.tool_call import Claim, ToolCallRecord, check_call_id
from session_store.errors import NotFoundError
from session_store.ports import Clock, ToolCallStorage
from session_store.services.access import SessionAccess
from session_store.services.payload_parts import CLAIMS, RECORDS
from session_store.services.payloads import Payloads
from session_store.services.tool_calls.replay import read_settled_record


class ToolCalls(Struct, frozen=True, kw_only=True):
    storage: ToolCallStorage
    access: SessionAccess
    payloads: Payloads
    clock: Clock

    def get(
        self, caller: Caller, session_id: str, tool_call_id: str, *, min_version: int = 0
    ) -> Claim | ToolCallRecord:
        """Read one call: its record, or its claim if it is not settled.

        Raises:
            NotFoundError: there is no such call in this session.
            MisdirectedError, SessionNotFoundError
        """
        check_call_id(tool_call_id)
        snapshot = self.storage.read_call(check_session_id(session_id), tool_call_id)
        session = self.access.authorize(caller, snapshot.session, min_version=min_version)
        claim = snapshot.claim
        if claim is None or is_expired(claim.ttl, self.clock.now_ms()):
            raise NotFoundError("There is no such tool call.")
        call = self._load(claim, home=session.home_region)
        self.access.slide_quietly(caller, session)
        return call

    def _load(self, claim: Claim, *, home: str) -> Claim | ToolCallRecord:
        if not claim.is_settled:
            return CLAIMS.load(self.payloads, [claim], home=home)[0]
        return RECORDS.load(self.payloads, [read_settled_record(self.storage, claim)], home=home)[0]

    def history(
        self,
        caller: Caller,
        session_id: str,
        page: PageRequest[RecordPosition],
        *,
        min_version: int = 0,
    ) -> tuple[Session, Page[ToolCallRecord, RecordPosition]]:
        """Read the session and a page of its finished calls, in time order.

        Raises:
            MisdirectedError, SessionNotFoundError
        """
        session = self.access.load(caller, session_id, min_version=min_version)
        result = self.storage.page(session_id, page)
        items = RECORDS.load(self.payloads, result.items, home=session.home_region)
        return self.access.slide_quietly(caller, session), replace(result, items=items)
