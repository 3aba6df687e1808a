"""What all answers of the API have in common."""

from typing import Generic, TypeVar

import msgspec

ItemT = TypeVar("ItemT")


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A JSON object; members that this version does not know are ignored."""


class Page(Answer, Generic[ItemT], frozen=True):
    """One page of a list. It may be short or empty: only a ``next_cursor`` of None ends the list."""

    items: tuple[ItemT, ...]
    next_cursor: str | None
