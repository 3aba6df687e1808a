"""A tool call that is being run, as tests begin and end it."""

from typing import Final

from session_store.domain.claim import ClaimStatus
from session_store.services.tool_calls.begin import NewCall
from session_store.services.tool_calls.requests import CallOutcome

RUN: Final = NewCall(tool_call_id="run", tool_name="search", input={"q": "x"})
FOUND: Final = CallOutcome(status=ClaimStatus.COMPLETED, output="found")
