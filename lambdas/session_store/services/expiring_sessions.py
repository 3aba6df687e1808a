"""Sessions that end soon, page by page."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from session_store.domain.page import ExpiringPosition, PageRequest
from session_store.domain.session import ExpiringSession, Status
from session_store.ports import SessionStorage


def pages_expiring(
    sessions: SessionStorage, statuses: Iterable[Status], *, now_ms: int, until: int, size: int
) -> Iterator[tuple[ExpiringSession, ...]]:
    """The sessions of each status that end by ``until`` (epoch seconds), soonest first, read lazily."""
    for status in sorted(statuses):
        page: PageRequest[ExpiringPosition] = PageRequest(limit=size)
        while True:
            result = sessions.page_expiring(status, now_ms=now_ms, until=until, page=page)
            yield result.items
            if result.next is None:
                break
            page = replace(page, after=result.next)
