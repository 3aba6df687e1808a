"""Lists of a storage or a use case, followed page by page to their end."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from session_store.domain.page import Page, PageRequest

MOST_PAGES: Final = 100
Entry = TypeVar("Entry")


def every_page(
    read: Callable[[PageRequest[Any]], Page[Entry, Any]], *, limit: int, descending: bool = False
) -> list[list[Entry]]:
    """The pages of the list that ``read`` reads a page of."""
    pages: list[list[Entry]] = []
    page: PageRequest[Any] = PageRequest(limit=limit, descending=descending)
    for _ in range(MOST_PAGES):
        found = read(page)
        assert len(found.items) <= limit
        pages.append(list(found.items))
        if found.next is None:
            return pages
        page = replace(page, after=found.next)
    raise AssertionError(f"the list does not end within {MOST_PAGES} pages")


def every_item(
    read: Callable[[PageRequest[Any]], Page[Entry, Any]], *, limit: int, descending: bool = False
) -> list[Entry]:
    return [entry for page in every_page(read, limit=limit, descending=descending) for entry in page]
