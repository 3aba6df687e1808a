"""The transcript: every message once for ever, in order, whatever is sent again."""

from typing import Any

import pytest

from local.signed_http import Answer
from session_store.schema import CONTEXT_SK_PREFIX, Attribute
from tests.support.calls import (
    Acting,
    append,
    assert_problem,
    create,
    create_in,
    items,
    message_id,
    move,
    pages,
)
from tests.support.raw_table import RawTable

NEW = "new"
KNOWN = "known"


def post(api: Acting, session_id: str, *messages: dict[str, Any], atomic: bool = False) -> Answer:
    body = {"messages": list(messages), **({"atomic": True} if atomic else {})}
    return api.call("POST", f"/sessions/{session_id}/context", body)


def named(content: object, given: str | None = None) -> dict[str, Any]:
    return {"content": content, "messageId": given or message_id()}


def contents(api: Acting, session_id: str, query: str = "") -> list[Any]:
    return [item["content"] for item in items(api, f"/sessions/{session_id}/context{query}")]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_fifty_messages_of_10_kb_are_read_by_cursor_in_order(api: Acting, order: str) -> None:
    session_id = create(api)["sessionId"]
    sent = [f"{number:02d}{'x' * 10_238}" for number in range(50)]
    appended = append(api, session_id, *sent[:25]) + append(api, session_id, *sent[25:])
    read = list(pages(api, f"/sessions/{session_id}/context?order={order}&limit=7"))
    found = [item for page in read for item in page.json["items"]]
    expected = appended if order == "asc" else appended[::-1]
    assert found == expected
    assert [item["content"] for item in appended] == sent
    assert all(len(page.json["items"]) <= 7 for page in read)
    assert contents(api, session_id) == sent


def test_a_page_of_large_messages_stays_under_5_mb(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    block = "x" * 300_000
    for number in range(7):
        append(api, session_id, *(f"{number}{part}{block}" for part in range(3)))
    read = list(pages(api, f"/sessions/{session_id}/context?limit=100"))
    assert max(len(page.body) for page in read) < 5_000_000
    found = [item["content"][:2] for page in read for item in page.json["items"]]
    assert found == [f"{number}{part}" for number in range(7) for part in range(3)]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "hello",
        None,
        True,
        0,
        [],
        {},
        [[], {}, None],
        {"": {"": ""}},
        "日本 \U0001f600 \x00 \x7f",
        {"a.b": 1},
    ],
)
def test_a_content_of_any_json_is_kept(api: Acting, content: object) -> None:
    session_id = create(api)["sessionId"]
    assert append(api, session_id, content)[0]["content"] == content
    assert contents(api, session_id) == [content]


@pytest.mark.parametrize("atomic", [False, True])
def test_the_same_messages_again_are_a_success_and_no_second_copy(
    api: Acting, raw: RawTable, *, atomic: bool
) -> None:
    session_id = create(api)["sessionId"]
    messages = [named({"a": 1, "b": [1.50, None]}), named("two"), named(3)]
    first = post(api, session_id, *messages, atomic=atomic)
    before = raw.partition(session_id)
    again = [{**messages[0], "content": {"b": [1.5, None], "a": 1.0}}, *messages[1:]]
    second = post(api, session_id, *again, atomic=atomic)
    assert (first.status, second.status) == (201, 200)
    assert second.json == first.json
    assert raw.partition(session_id) == before
    assert len(items(api, f"/sessions/{session_id}/context")) == 3


@pytest.mark.parametrize("atomic", [False, True])
def test_new_messages_beside_a_replay_are_written(api: Acting, *, atomic: bool) -> None:
    session_id = create(api)["sessionId"]
    known, new = named(KNOWN), named(NEW)
    first = post(api, session_id, known)
    answer = post(api, session_id, known, new, atomic=atomic)
    assert (answer.status, [item["content"] for item in answer.json["items"]]) == (201, [KNOWN, NEW])
    assert answer.json["items"][0] == first.json["items"][0]
    assert contents(api, session_id) == [KNOWN, NEW]


def test_an_id_taken_by_another_content_is_a_conflict(api: Acting, raw: RawTable) -> None:
    session_id = create(api)["sessionId"]
    known = named(KNOWN)
    assert post(api, session_id, known).status == 201
    before = raw.partition(session_id)
    answer = post(api, session_id, {**known, "content": NEW})
    assert_problem(answer, 409, "content-conflict", {"messageIds": [known["messageId"]]})
    assert raw.partition(session_id) == before


def test_an_atomic_append_with_a_conflict_writes_nothing(api: Acting, raw: RawTable) -> None:
    session_id = create(api)["sessionId"]
    known = named(KNOWN)
    assert post(api, session_id, known).status == 201
    before = raw.partition(session_id)
    answer = post(api, session_id, named(NEW), {**known, "content": NEW}, {"content": NEW}, atomic=True)
    assert_problem(answer, 409, "content-conflict", {"messageIds": [known["messageId"]]})
    assert raw.partition(session_id) == before


def test_a_plain_append_with_a_conflict_writes_the_others(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    known = named(KNOWN)
    assert post(api, session_id, known).status == 201
    answer = post(api, session_id, {**known, "content": NEW}, named("other"))
    assert_problem(answer, 409, "content-conflict", {"messageIds": [known["messageId"]]})
    assert contents(api, session_id) == [KNOWN, "other"]


@pytest.mark.parametrize("off", [-360, -86_400, 360, 86_400])
@pytest.mark.parametrize("atomic", [False, True])
def test_a_new_id_more_than_five_minutes_off_is_refused(
    api: Acting, raw: RawTable, off: int, *, atomic: bool
) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    answer = post(api, session_id, named("fine"), named("off", message_id(seconds_off=off)), atomic=atomic)
    assert_problem(answer, 400, "invalid-request", {"path": "$.messages[1].messageId"})
    assert raw.partition(session_id) == before


@pytest.mark.parametrize("off", [-240, 240])
def test_a_new_id_less_than_five_minutes_off_is_stored_in_its_place(api: Acting, off: int) -> None:
    session_id = create(api)["sessionId"]
    append(api, session_id, "now")
    assert post(api, session_id, named("off", message_id(seconds_off=off))).status == 201
    assert contents(api, session_id) == (["off", "now"] if off < 0 else ["now", "off"])


@pytest.mark.parametrize("status", ["closing", "closed"])
def test_a_replay_succeeds_after_the_close_and_nothing_new_does(
    api: Acting, raw: RawTable, status: str
) -> None:
    session_id = create_in(api, "active")
    known = named(KNOWN)
    first = post(api, session_id, known)
    for step in ("closing", "closed")[: 1 + (status == "closed")]:
        move(api, session_id, step)
    before = raw.partition(session_id)
    again = post(api, session_id, known)
    assert (again.status, again.json) == (200, first.json)
    assert post(api, session_id, known, named(NEW)).status == 409
    assert post(api, session_id, {**known, "content": NEW}).status == 409
    assert raw.partition(session_id) == before


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        ([], "$.messages"),
        ([{"content": n} for n in range(26)], "$.messages"),
        ({"content": 1}, "$.messages"),
        ([{}], "$.messages[0]"),
        ([{"content": 1, "role": "user"}], "$.messages[0]"),
        ([{"content": 1, "messageId": ""}], "$.messages[0].messageId"),
        ([{"content": 1, "messageId": 7}], "$.messages[0].messageId"),
        ([{"content": 1, "messageId": "m1"}], "$.messages[0].messageId"),
        ([{"content": 1, "messageId": "3d813cbb-47fb-42ba-91df-831e1593ac29"}], "$.messages[0].messageId"),
        ([{"content": 1, "messageId": f"{message_id()}\n"}], "$.messages[0].messageId"),
        ([{"content": 1, "messageId": message_id().upper()}], "$.messages[0].messageId"),
    ],
)
def test_malformed_messages_are_refused_by_their_path(
    api: Acting, raw: RawTable, messages: object, path: str
) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    answer = api.call("POST", f"/sessions/{session_id}/context", {"messages": messages})
    assert_problem(answer, 400, "invalid-request", {"path": path})
    assert raw.partition(session_id) == before


@pytest.mark.parametrize("atomic", [False, True])
def test_one_id_twice_in_a_request_is_refused(api: Acting, raw: RawTable, *, atomic: bool) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    twice = named("same")
    answer = post(api, session_id, twice, twice, atomic=atomic)
    assert_problem(answer, 400, "invalid-request", {"path": "$.messages[1].messageId"})
    assert raw.partition(session_id) == before


def test_appending_leaves_the_session_item_as_it_is(api: Acting, raw: RawTable) -> None:
    session_id = create(api)["sessionId"]
    before = raw.metadata(session_id)
    appended = append(api, session_id, "one", "two")
    assert raw.metadata(session_id) == before
    keys = [item[Attribute.SK]["S"] for item in raw.partition(session_id)]
    assert keys == [*(f"{CONTEXT_SK_PREFIX}{item['messageId']}" for item in appended), "metadata"]
