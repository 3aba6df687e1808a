"""An answer fits into what Lambda hands on, whatever it carries: the rest comes by cursor."""

import json
from typing import Any, Final

import pytest

from session_store.domain.json_values import encode
from session_store.domain.session import Session
from session_store.ports import Storage
from session_store.services.payloads import INLINE_LIMIT, LARGEST
from session_store.services.tool_calls.record import RecordedCall
from session_store.storage.memory.surroundings import MemoryPayloads
from session_store.store import store_on
from tests.support.api import Answer, StoreApi
from tests.support.samples import (
    ALICE,
    NOW_MS,
    a_call,
    a_checkpoint,
    a_message,
    a_settlement,
    an_event,
    kept,
    settings,
)
from tests.support.world import SettableClock

MOST_BYTES: Final = 6_291_556
"""Of the JSON text in which the function hands its answer on (*Lambda quotas*, synchronous invocation)."""

PAYLOAD: Final = INLINE_LIMIT - 100
"""Bytes of JSON: as much as a message or a call may carry, keys and ids beside it."""

ITEM: Final = 390_000
CHARACTERS: Final = {"CJK": "\u6f22", "quotes": '"', "backslashes": "\\", "controls": "\x01", "letters": "x"}
EACH_CHARACTER = pytest.mark.parametrize("character", CHARACTERS.values(), ids=CHARACTERS.keys())


def filled(character: str) -> str:
    """Text whose JSON has ``PAYLOAD`` bytes."""
    return character * (PAYLOAD // (len(encode(character)) - 2))


def api_on(storage: Storage) -> StoreApi:
    return StoreApi(store_on(storage, settings(), clock=SettableClock()))


def every_answer(api: StoreApi, path: str) -> list[Answer]:
    """The pages of a list, each small enough to be handed on."""
    answers: list[Answer] = []
    query = {"limit": "100"}
    while True:
        answer = api.call("GET", path, query=query)
        assert answer.status == 200
        assert len(json.dumps({"body": answer.text}, ensure_ascii=False).encode()) < MOST_BYTES
        answers.append(answer)
        if answer.json["nextCursor"] is None:
            return answers
        query["cursor"] = answer.json["nextCursor"]


def items(answers: list[Answer]) -> list[dict[str, Any]]:
    return [item for answer in answers for item in answer.json["items"]]


@EACH_CHARACTER
def test_messages_of_any_text_come_in_answers_that_fit(storage: Storage, character: str) -> None:
    session = kept(storage)
    messages = [a_message(session, filled(character)) for _ in range(24)]
    for message in messages:
        storage.messages.put(message)
    answers = every_answer(api_on(storage), f"/sessions/{session.session_id}/context")
    assert len(answers) > 1
    assert [item["messageId"] for item in items(answers)] == [message.message_id for message in messages]
    assert {item["content"] for item in items(answers)} == {filled(character)}


@EACH_CHARACTER
def test_checkpoints_of_any_text_come_in_answers_that_fit(storage: Storage, character: str) -> None:
    session = kept(storage)
    checkpoints = [a_checkpoint(session, filled(character)) for _ in range(12)]
    for checkpoint in checkpoints:
        storage.checkpoints.put(checkpoint)
    answers = every_answer(api_on(storage), f"/sessions/{session.session_id}/checkpoints")
    assert len(answers) > 1
    ids = [checkpoint.checkpoint_id for checkpoint in checkpoints]
    assert [item["checkpointId"] for item in items(answers)] == ids
    assert {item["data"] for item in items(answers)} == {filled(character)}


@pytest.mark.parametrize("of_state", CHARACTERS.values(), ids=CHARACTERS.keys())
@pytest.mark.parametrize("of_calls", ['"', "x"], ids=["quotes", "letters"])
def test_a_history_beside_the_largest_session_comes_in_answers_that_fit(
    storage: Storage, of_state: str, of_calls: str
) -> None:
    session = kept(storage, state={"k": of_state * (ITEM // len(of_state.encode()))})
    record_calls(storage, session, output=filled(of_calls), count=12)
    answers = every_answer(api_on(storage), f"/sessions/{session.session_id}/history")
    assert [item["toolCallId"] for item in items(answers)] == [f"c{number:02}" for number in range(12)]
    assert {answer.json["session"]["state"]["k"] for answer in answers} == {session.state["k"]}


def record_calls(storage: Storage, session: Session, *, output: str, count: int) -> None:
    for number in range(count):
        claim, record = a_call(session, f"c{number:02}", started_at=NOW_MS + number, output=output)
        assert storage.tool_calls.settle(a_settlement(claim, record, an_event(session)))


@pytest.mark.parametrize("of_state", CHARACTERS.values(), ids=CHARACTERS.keys())
@pytest.mark.parametrize("of_calls", ['"', "\x01", "x"], ids=["quotes", "controls", "letters"])
def test_the_largest_calls_beside_the_largest_session_come_in_answers_that_fit(
    storage: Storage, of_state: str, of_calls: str
) -> None:
    session = kept(storage, state={"k": of_state * (ITEM // len(of_state.encode()))})
    bucket = MemoryPayloads()
    store = store_on(storage, settings(), clock=SettableClock(), payloads=lambda: bucket)
    output = of_calls * ((LARGEST - 100) // (len(encode(of_calls)) - 2))
    sizes = [1, LARGEST, LARGEST // 2, LARGEST, 1]
    for number, size in enumerate(sizes):
        call = RecordedCall(
            tool_call_id=f"c{number}",
            tool_name="search",
            input=None,
            output=output[: size * len(output) // LARGEST],
            error=None,
            duration_ms=0,
            started_at=NOW_MS + number,
        )
        assert not store.recorded_calls.record(ALICE, session.session_id, call).replayed
    answers = every_answer(StoreApi(store), f"/sessions/{session.session_id}/history")
    assert [item["toolCallId"] for item in items(answers)] == [f"c{number}" for number in range(len(sizes))]
    assert items(answers)[1]["output"] == output
