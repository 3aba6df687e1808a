"""What every list shares: its parameters and its cursor."""

from typing import Any, Final

from session_api.cursors import Position, decode_cursor
from session_api.operations import Parameter
from session_api.requests import Request
from session_store.domain.page import PageRequest

DEFAULT_LIMIT: Final = 20
MAX_LIMIT: Final = 100

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
ORDERS: Final = ["asc", "desc"]
ORDER: Final = Parameter(
    name="order",
    schema={"type": "string", "enum": ORDERS, "default": "asc"},
    description="Oldest or newest first.",
)
PAGED: Final = (LIMIT, CURSOR)


def order_of(request: Request) -> str:
    """Of a list that takes ``ORDER``."""
    return request.query.choice("order", ORDERS) or "asc"


def page_request(
    request: Request, kind: type[Position], *, query: dict[str, Any], descending: bool = False
) -> PageRequest[Position]:
    """The page asked for; ``query`` is what, with the caller, makes the list."""
    after = decode_cursor(request.query.text("cursor"), kind, query=query)
    limit = request.query.whole("limit", default=DEFAULT_LIMIT, low=1, high=MAX_LIMIT)
    return PageRequest(limit=limit, after=after, descending=descending)
