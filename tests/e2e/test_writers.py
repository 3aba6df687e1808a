"""Many writers at one moment: whatever was answered as done is there, once."""

from typing import Any

import pytest

from local.signed_http import Answer
from session_store.schema import Attribute
from tests.support.calls import Acting, create, create_in, items, pages, read, tool_call
from tests.support.crowd import at_once, warm
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable

WRITERS = 64
ROUNDS = 3
OWNED = 1_200


@pytest.fixture(scope="module", autouse=True)
def crowd(deployed: LiveStack) -> None:
    """Enough environments that the writers meet each other, not cold starts."""
    warm(deployed.api("tenant-a"))


def patch(api: Acting, session_id: str, **operations: object) -> Answer:
    return api.call("PATCH", f"/sessions/{session_id}/state", operations)


def statuses(answers: list[Answer]) -> set[int]:
    return {answer.status for answer in answers}


def test_20_appends_of_messages_at_once_are_20_messages(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    path = f"/sessions/{session_id}/context"
    answers = at_once(20, lambda n: api.call("POST", path, {"messages": [{"content": n}]}))
    assert statuses(answers) == {201}
    found = items(api, path)
    assert sorted(item["content"] for item in found) == list(range(20))
    assert [item["messageId"] for item in found] == sorted(item["messageId"] for item in found)


def test_20_appends_to_one_list_at_once_are_20_entries(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    answers = at_once(20, lambda n: patch(api, session_id, append={"list": [n]}))
    assert statuses(answers) == {200}
    session = read(api, session_id)
    assert sorted(session["state"]["list"]) == list(range(20))
    assert session["version"] == 21


def test_20_sets_of_different_keys_at_once_are_20_keys(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    answers = at_once(20, lambda n: patch(api, session_id, set={f"k{n}": n}))
    assert statuses(answers) == {200}
    session = read(api, session_id)
    assert session["state"] == {f"k{number}": number for number in range(20)}
    assert session["version"] == 21
    assert sorted(answer.json["version"] for answer in answers) == list(range(2, 22))


def test_50_increments_at_once_are_exactly_50(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    answers = at_once(50, lambda _: patch(api, session_id, increment={"n": 1}))
    assert statuses(answers) == {200}
    session = read(api, session_id)
    assert (session["state"], session["version"]) == ({"n": 50}, 51)


def test_of_many_writers_at_one_version_one_wins(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    path = f"/sessions/{session_id}/state"
    answers = at_once(20, lambda n: api.call("PUT", path, {"winner": n}, {"If-Match": '"1"'}))
    assert sorted(answer.status for answer in answers) == [200] + [412] * 19
    (winner,) = (answer for answer in answers if answer.status == 200)
    assert {answer.json["currentVersion"] for answer in answers if answer.status == 412} == {2}
    assert read(api, session_id) == winner.json


def test_one_call_recorded_by_many_at_once_is_one_record(
    api: Acting, raw: RawTable, raw_audit: RawTable
) -> None:
    session_id = create(api)["sessionId"]
    path = f"/sessions/{session_id}/tool-calls/c1"
    body = tool_call(startedAt="2026-11-30T08:30:00.123Z")
    answers = at_once(20, lambda _: api.call("PUT", path, body))
    assert sorted(answer.status for answer in answers) == [200] * 19 + [201]
    assert len({answer.body for answer in answers}) == 1
    assert len(raw.partition(session_id)) == 3
    assert len(raw_audit.partition(session_id)) == 1


def test_of_a_delete_among_writers_nothing_comes_back(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active")
    path = f"/sessions/{session_id}"

    def write(number: int) -> Answer:
        if number == 10:
            return api.call("DELETE", path)
        if number % 2:
            return patch(api, session_id, increment={"n": 1})
        return api.call("POST", f"{path}/touch")

    answers = at_once(20, write)
    assert answers[10].status == 204
    assert statuses(answers) <= {200, 204, 404}
    assert raw.metadata(session_id) is None
    assert api.call("GET", path).status == 404


def test_64_writers_of_every_kind_lose_nothing(api: Acting, raw: RawTable) -> None:
    session_id = create(api, {"state": {"start": True}})["sessionId"]
    path = f"/sessions/{session_id}"

    def write(number: int) -> list[Answer]:
        answers = []
        for turn in range(ROUNDS):
            match number % 4:
                case 0:
                    answer = patch(api, session_id, set={f"k{number}": turn})
                case 1:
                    answer = patch(api, session_id, increment={"n": 1, "tenths": 0.1})
                case 2:
                    answer = patch(api, session_id, append={"list": [[number, turn]]})
                case _:
                    body = {"messages": [{"content": [number, turn]}]}
                    answer = api.call("POST", f"{path}/context", body)
            answers.append(answer)
        return answers

    answers = [answer for written in at_once(WRITERS, write) for answer in written]
    assert len(answers) == WRITERS * ROUNDS
    assert statuses(answers) == {200, 201}
    session = read(api, session_id)
    each = [[number, turn] for number in range(WRITERS) for turn in range(ROUNDS)]
    listed = session["state"].pop("list")
    assert sorted(listed) == [entry for entry in each if entry[0] % 4 == 2]
    assert session["state"] == {
        "start": True,
        "n": 16 * ROUNDS,
        "tenths": 4.8,
        **{f"k{number}": ROUNDS - 1 for number in range(0, WRITERS, 4)},
    }
    assert session["version"] == 1 + 48 * ROUNDS
    messages = [item["content"] for item in items(api, f"{path}/context?limit=100")]
    assert sorted(messages) == [entry for entry in each if entry[0] % 4 == 3]
    assert in_turn(listed)
    assert in_turn(messages)
    metadata = raw.metadata(session_id)
    assert metadata is not None
    assert metadata[Attribute.VERSION] == {"N": str(session["version"])}


def in_turn(entries: list[Any]) -> bool:
    """Whether every writer's own entries stand in the order that they were written in."""
    return all(
        [turn for writer, turn in entries if writer == number]
        == sorted(turn for writer, turn in entries if writer == number)
        for number in range(WRITERS)
    )


def test_1200_sessions_of_one_owner_are_listed_each_once(api: Acting) -> None:
    state = {"blob": "x" * 2_000}
    threads = 16
    made = at_once(
        threads,
        lambda _: [create(api, {"state": state})["sessionId"] for _ in range(OWNED // threads)],
    )
    expected = sorted(session_id for part in made for session_id in part)
    assert len(set(expected)) == OWNED
    for limit in (100, 37):
        read_pages = list(pages(api, f"/sessions?limit={limit}"))
        found = [item for page in read_pages for item in page.json["items"]]
        assert sorted(item["sessionId"] for item in found) == expected
        times = [item["createdAt"] for item in found]
        assert times == sorted(times, reverse=True)
