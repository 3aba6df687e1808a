"""The base of every request body, and the times in it."""

import msgspec

from session_store.domain.times import from_iso
from session_store.errors import InvalidRequestError


class Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A JSON object; an unknown member is refused, not ignored.

    The texts below fields and the docstrings of subclasses are the descriptions in the OpenAPI document.
    """


def parse_time(text: str | None, *, path: str) -> int | None:
    """Milliseconds since the epoch; None where ``text`` is.

    Raises:
        InvalidRequestError: not an ISO 8601 time, or one without a time zone.
    """
    if text is None:
        return None
    try:
        return from_iso(text)
    except ValueError as error:
        detail = "Must be an ISO 8601 time with a time zone, like 2026-01-31T08:30:00.123Z"
        raise InvalidRequestError(detail, path=path) from error
