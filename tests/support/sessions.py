"""Sessions and what is done to them, as plain values."""

from typing import Any

from session_store.domain.session import Author, Session, Status, owner_of
from session_store.domain.session_write import Change, Guard, ReplaceState, SessionWrite
from session_store.domain.slide import Slide
from tests.support.world import ALICE, REGION, START

NOW = START // 1000
SESSION_ID = "use1-" + "a" * 32
AUTHOR = Author(principal="111122223333:role/backend alice", request_id="request-1")


def a_session(**changes: Any) -> Session:
    """Active at ``START`` with an hour to live, version 3, of Alice."""
    values: dict[str, Any] = {
        "session_id": SESSION_ID,
        "owner": owner_of(ALICE),
        "status": Status.ACTIVE,
        "version": 3,
        "created_at": START,
        "updated_at": START,
        "ttl": NOW + 3600,
        "slide_after": NOW + 360,
        "idle_timeout": 3600,
        "max_expires_at": NOW + 86_400,
        "home_region": REGION,
        "write_region": REGION,
        "updated_by": AUTHOR,
        "last_write": "operation-0",
    }
    return Session(**{**values, **changes})


def a_guard(**changes: Any) -> Guard:
    """One that ``a_session()`` satisfies."""
    return Guard(**{"now_ms": START, "owner": owner_of(ALICE), "region": REGION, **changes})


def a_write(change: Change | None = None, **guard: Any) -> SessionWrite:
    return SessionWrite(
        session_id=SESSION_ID,
        guard=a_guard(**guard),
        change=change or ReplaceState(state={}),
        operation_id="operation-1",
        author=AUTHOR,
    )


def a_slide(session: Session, now_ms: int, **changes: Any) -> Slide:
    values: dict[str, Any] = {
        "session_id": session.session_id,
        "owner": session.owner,
        "region": session.home_region,
        "now_ms": now_ms,
        "window": session.window_at(now_ms),
        "author": AUTHOR,
    }
    return Slide(**{**values, **changes})
