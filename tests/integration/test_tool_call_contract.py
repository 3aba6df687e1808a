"""What every ToolCallStorage promises."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.claim import ClaimStatus
from session_store.domain.json_values import digest
from session_store.domain.settlement import Settlement
from session_store.domain.tool_call import ToolCallRecord
from session_store.errors import ContentConflictError
from session_store.ports import Storage, ToolCallStorage
from session_store.services.context import NewMessage
from session_store.services.tool_calls.finish import FinishResult
from session_store.services.tool_calls.requests import SessionChange
from session_store.store import store_on
from tests.support.call_samples import FOUND, RUN
from tests.support.pages import every_item
from tests.support.samples import (
    ALICE,
    NOW_MS,
    NOW_SECONDS,
    a_call,
    a_message,
    a_session,
    a_settlement,
    an_event,
    kept,
    settings,
)
from tests.support.task_samples import a_task, kept_task
from tests.support.world import SettableClock

IDS = ["a", "a#b", "a%23b", "a%2523b", "x" * 256]


def test_a_recorded_call_is_read_back_equal(storage: Storage) -> None:
    session = a_session()
    claim, record = a_call(session, "c1")
    assert storage.tool_calls.settle(a_settlement(claim, record, an_event(session)))
    assert storage.tool_calls.read_call(session.session_id, "c1").claim == claim
    assert storage.tool_calls.read_record(claim) == record


def test_a_taken_call_id_keeps_its_claim_and_its_record(storage: Storage) -> None:
    session = a_session()
    claim, record = a_call(session, "c1")
    storage.tool_calls.settle(a_settlement(claim, record, an_event(session)))
    other = replace(record, output="other", started_at=NOW_MS + 1)
    again = replace(claim, outcome_hash="other", started_at=NOW_MS + 1)
    assert not storage.tool_calls.settle(a_settlement(again, other, an_event(session)))
    assert storage.tool_calls.read_call(session.session_id, "c1").claim == claim
    assert every_item(partial(storage.tool_calls.page, session.session_id), limit=10) == [record]


def test_an_expired_claim_counts_as_none(storage: Storage) -> None:
    session = a_session()
    claim, record = a_call(session, "c1")
    storage.tool_calls.settle(a_settlement(replace(claim, ttl=NOW_SECONDS), record, an_event(session)))
    assert storage.tool_calls.settle(a_settlement(claim, record, an_event(session)))
    assert storage.tool_calls.read_call(session.session_id, "c1").claim == claim


def test_ids_that_look_like_parts_of_a_key_stay_apart(storage: Storage) -> None:
    session = a_session()
    calls = {tool_call_id: a_call(session, tool_call_id) for tool_call_id in IDS}
    for claim, record in calls.values():
        assert storage.tool_calls.settle(a_settlement(claim, record, an_event(session)))
    for tool_call_id, (claim, record) in calls.items():
        assert storage.tool_calls.read_call(session.session_id, tool_call_id).claim == claim
        assert storage.tool_calls.read_record(claim) == record
    listed = every_item(partial(storage.tool_calls.page, session.session_id), limit=2)
    assert sorted(record.tool_call_id for record in listed) == sorted(IDS)


@pytest.mark.parametrize("descending", [True, False])
def test_calls_come_in_time_order_page_by_page(storage: Storage, *, descending: bool) -> None:
    session = a_session()
    records: list[ToolCallRecord] = []
    for at in (5, 3, 9, 1, 7, 7):
        claim, record = a_call(session, f"c{len(records)}", started_at=NOW_MS + at)
        storage.tool_calls.settle(a_settlement(claim, record, an_event(session)))
        records.append(record)
    expected = sorted(
        records, key=lambda record: (record.started_at, record.tool_call_id), reverse=descending
    )
    assert (
        every_item(partial(storage.tool_calls.page, session.session_id), limit=2, descending=descending)
        == expected
    )


@pytest.mark.parametrize("content", ["hello", "other"])
def test_a_last_message_whose_id_is_taken_lets_nothing_be_written(storage: Storage, content: str) -> None:
    session = a_session()
    claim, record = a_call(session, "c1")
    message = a_message(session)
    storage.messages.put(replace(message, content=content, content_hash=digest(content)))
    settlement = a_settlement(claim, record, an_event(session), messages=[a_message(session), message])
    assert not storage.tool_calls.settle(settlement)
    assert storage.tool_calls.read_call(session.session_id, "c1").claim is None


def test_a_last_task_whose_id_is_taken_lets_nothing_be_written(storage: Storage) -> None:
    session = a_session()
    claim, record = a_call(session, "c1")
    settlement = a_settlement(claim, record, an_event(session), tasks=(a_task(), kept_task(storage)))
    assert not storage.tool_calls.settle(settlement)
    assert storage.tool_calls.read_call(session.session_id, "c1").claim is None


class Overtaken:
    """Storage of calls on which something happens ``meanwhile``: right before the first settlement."""

    def __init__(self, calls: ToolCallStorage, meanwhile: Callable[[], object]) -> None:
        self._calls = calls
        self._meanwhile = meanwhile

    def settle(self, settlement: Settlement) -> bool:
        meanwhile, self._meanwhile = self._meanwhile, lambda: None
        meanwhile()
        return self._calls.settle(settlement)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._calls, name)


def completed_meanwhile(storage: Storage, content: str) -> FinishResult:
    """A call completed with a message, whose id another writer takes first, for ``content``."""
    store = store_on(storage, settings(), clock=SettableClock())
    session_id = kept(storage).session_id
    fence = store.running_calls.begin(ALICE, session_id, RUN).claim.fence
    message_id = store.context.ids.message_id(NOW_MS)

    def append() -> None:
        store.context.append(ALICE, session_id, [NewMessage(content=content, message_id=message_id)])

    calls = replace(store.finished_calls, storage=Overtaken(storage.tool_calls, append))
    change = SessionChange(messages=[NewMessage(content="hello", message_id=message_id)])
    return calls.finish(ALICE, session_id, "run", fence=fence, outcome=FOUND, change=change)


def test_a_completion_whose_last_message_was_just_appended_succeeds(storage: Storage) -> None:
    finished = completed_meanwhile(storage, "hello")
    assert (finished.claim.status, finished.appended) == (ClaimStatus.COMPLETED, 0)


def test_a_completion_whose_last_message_id_was_just_taken_is_a_conflict(storage: Storage) -> None:
    with pytest.raises(ContentConflictError):
        completed_meanwhile(storage, "other")
