"""The base of every response body, and the times in it."""

import msgspec

from session_store.domain.times import MILLIS, iso


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A JSON object. Times are ISO 8601 in UTC with milliseconds, `ttl` is in epoch seconds.

    The texts below fields and the docstrings of subclasses are the descriptions in the OpenAPI document.
    """


def iso_of_seconds(epoch_seconds: int) -> str:
    return iso(epoch_seconds * MILLIS)


def iso_or_none(at_ms: int | None) -> str | None:
    return None if at_ms is None else iso(at_ms)
