"""Recorded calls are read one by one, and as the history of their session."""

from typing import Any

import pytest

from session_store.domain.page import PageRequest
from session_store.domain.session import Session
from session_store.domain.tool_call import ToolCallRecord
from session_store.errors import NotFoundError
from session_store.services.tool_calls.record import RecordedCall
from tests.support.samples import ALICE, NOW_MS
from tests.support.world import World


def record(
    world: World, session: Session, tool_call_id: str, *, started_at: int | None = None
) -> ToolCallRecord:
    call = RecordedCall(
        tool_call_id=tool_call_id,
        tool_name="search",
        input={"q": "x"},
        output=1,
        error=None,
        duration_ms=250,
        started_at=started_at,
    )
    return world.store.recorded_calls.record(ALICE, session.session_id, call).record


@pytest.mark.parametrize("tool_call_id", ["a", "a#b", "a%23b", "x" * 41, "x" * 200, "x" * 256])
def test_a_call_is_found_by_its_id_alone_and_in_its_session_alone(world: World, tool_call_id: str) -> None:
    session = world.open()
    record(world, session, "a" + "x" * 36)
    recorded = record(world, session, tool_call_id)
    assert world.store.tool_calls.get(ALICE, session.session_id, tool_call_id) == recorded
    page: PageRequest[Any] = PageRequest(limit=100)
    assert world.store.tool_calls.history(ALICE, world.open().session_id, page)[1].items == ()


def test_an_unknown_call_is_not_found(world: World) -> None:
    with pytest.raises(NotFoundError):
        world.store.tool_calls.get(ALICE, world.open().session_id, "c9")


def test_history_shows_the_session_and_its_calls_in_time_order(world: World) -> None:
    session = world.open()
    for number, offset in enumerate([300, 100, 200]):
        record(world, session, f"c{number}", started_at=NOW_MS + offset)
    shown, first = world.store.tool_calls.history(ALICE, session.session_id, PageRequest(limit=2))
    assert shown == session
    assert [call.tool_call_id for call in first.items] == ["c1", "c2"]
    after_first = PageRequest(limit=2, after=first.next)
    _, second = world.store.tool_calls.history(ALICE, session.session_id, after_first)
    assert [call.tool_call_id for call in second.items] == ["c0"]
    assert second.next is None
