"""Query parameters that several routes share, and the page that they ask for."""

from typing import Any, Final

from session_api.cursors import Position, decode_cursor
from session_api.operations import Parameter
from session_api.requests import Request
from session_store.domain.identifiers import MAX_IDENTIFIER
from session_store.domain.page import PageRequest
from session_store.domain.session import Status

DEFAULT_LIMIT: Final = 20
MAX_LIMIT: Final = 100

LIMIT: Final = Parameter(
    name="limit",
    schema={"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    description="How many items at most.",
)
CURSOR: Final = Parameter(
    name="cursor",
    schema={"type": "string"},
    description=(
        "`nextCursor` of the page before, with the same other parameters. "
        "A page may be short; only a null `nextCursor` ends the list."
    ),
)
PAGING: Final = (LIMIT, CURSOR)

ORDERS: Final = ["asc", "desc"]
ORDER: Final = Parameter(
    name="order",
    schema={"type": "string", "enum": ORDERS, "default": "asc"},
    description="Oldest first (`asc`) or newest first (`desc`).",
)
NAMESPACE: Final = Parameter(
    name="namespace",
    schema={"type": "string", "maxLength": MAX_IDENTIFIER, "default": ""},
    description="The namespace of the checkpoints; the empty one is a namespace like any other.",
)
SESSION_STATUSES: Final = [status.value for status in Status]


def requested_order(request: Request[object]) -> str:
    return request.query.choice("order", ORDERS) or "asc"


def requested_namespace(request: Request[object]) -> str:
    return request.query.text("namespace") or ""


def requested_limit(request: Request[object]) -> int:
    return request.query.integer("limit", default=DEFAULT_LIMIT, low=1, high=MAX_LIMIT)


def requested_page(
    request: Request[object], kind: type[Position], *, query: dict[str, Any], descending: bool = False
) -> PageRequest[Position]:
    """The page that a request asks for.

    ``query`` is everything that defines the list beside the caller: a cursor holds for no other.

    Raises:
        InvalidRequestError: a bad limit, or a cursor that is malformed or of another query.
    """
    after = decode_cursor(request.query.text("cursor"), kind, query=query)
    return PageRequest(limit=requested_limit(request), after=after, descending=descending)
