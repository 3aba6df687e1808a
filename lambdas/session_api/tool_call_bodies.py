"""The request body that records a tool call."""

from typing import Annotated, Any

import msgspec

from session_api.bodies import Body, parse_time
from session_store.domain.tool_call import MAX_DURATION_MS
from session_store.services.tool_calls.record import RecordedCall

DurationMs = Annotated[int, msgspec.Meta(ge=0, le=MAX_DURATION_MS)]


class RecordToolCall(Body, frozen=True):
    """A call that its caller has already run. One with an `error` failed."""

    tool_name: str
    """The tool that was called: printable ASCII without spaces."""

    input: Any
    """What the tool was called with: any JSON value."""

    duration_ms: DurationMs
    """Milliseconds that the call took."""

    output: Any = None
    """What the tool returned; not together with an `error`."""

    error: Any = None
    """How the call failed; absent or null where it succeeded."""

    started_at: str | None = None
    """When the call began, ISO 8601 with a time zone; absent: `durationMs` ago."""

    def to_domain(self, tool_call_id: str) -> RecordedCall:
        return RecordedCall(
            tool_call_id=tool_call_id,
            tool_name=self.tool_name,
            input=self.input,
            output=self.output,
            error=self.error,
            duration_ms=self.duration_ms,
            started_at=parse_time(self.started_at, path="$.startedAt"),
        )
