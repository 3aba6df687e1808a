"""What every list shares: its parameters and its cursor."""

from typing import Any, Final

from session_api.cursors import Position, decode_cursor
from session_api.operations import Parameter
from session_api.requests import DEFAULT_LIMIT, MAX_LIMIT, Request
from session_store.domain.page import PageRequest

LIMIT: Final = Parameter(
    name="limit",
    schema={"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    description="The most items of a page.",
)
CURSOR: Final = Parameter(
    name="cursor",
    schema={"type": "string"},
    description="`nextCursor` of the page before. A page may be short; only null ends the list.",
)
PAGED: Final = (LIMIT, CURSOR)


def page_request(
    request: Request, kind: type[Position], *, query: dict[str, Any], descending: bool = False
) -> PageRequest[Position]:
    """The page asked for; ``query`` is what, with the caller, makes the list."""
    after = decode_cursor(request.query.text("cursor"), kind, query=query)
    return PageRequest(limit=request.limit, after=after, descending=descending)
