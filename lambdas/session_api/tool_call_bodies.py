"""The body of a request that records a tool call."""

from typing import Annotated, Any

import msgspec

from session_api.bodies import Body, moment
from session_store.domain.tool_call import MAX_DURATION_MS
from session_store.services.tool_calls.record import RecordedCall

Duration = Annotated[int, msgspec.Meta(ge=0, le=MAX_DURATION_MS)]


class RecordToolCall(Body, frozen=True):
    """A call that has been run. ``startedAt`` is ISO 8601 with a zone; with an ``error`` the call failed."""

    tool_name: str
    input: Any
    duration_ms: Duration
    output: Any = None
    error: Any = None
    started_at: str | None = None

    def to_domain(self, tool_call_id: str) -> RecordedCall:
        return RecordedCall(
            tool_call_id=tool_call_id,
            tool_name=self.tool_name,
            input=self.input,
            output=self.output,
            error=self.error,
            duration_ms=self.duration_ms,
            started_at=moment(self.started_at, path="$.startedAt"),
        )
