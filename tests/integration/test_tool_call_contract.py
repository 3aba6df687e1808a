"""What every ToolCallStorage promises."""

from functools import partial

import pytest
from msgspec.structs import replace

from session_store.domain.tool_call import ToolCallRecord
from session_store.ports import Storage
from tests.support.pages import every_item
from tests.support.samples import NOW_MS, NOW_SECONDS, a_call, a_session, a_settlement, an_event

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
