"""Changes of a session's state: one atomic update each, apart from the item's own attributes."""

from typing import Any

import pytest

from session_store.schema import Attribute
from tests.support.calls import Acting, assert_problem, create, read
from tests.support.raw_table import RawTable

AWKWARD_KEYS = [
    "status",
    "ttl",
    "a.b",
    "pk",
    "sk",
    "size",
    "ünï",
    "version",
    "state",
    "#0",
    ":0",
    "a b",
    "a[0]",
    "$.set",
    "__proto__",
    "日本",
]


def patch(api: Acting, session_id: str, **operations: object) -> Any:
    return api.call("PATCH", f"/sessions/{session_id}/state", operations)


def test_all_operations_of_a_patch_are_one_update(api: Acting) -> None:
    session_id = create(api, {"state": {"old": 1, "count": 4, "list": ["a"], "kept": True}})["sessionId"]
    answer = patch(
        api,
        session_id,
        set={"new": {"deep": [1]}},
        remove=["old", "never there"],
        increment={"count": 2, "fresh": -1},
        append={"list": ["b", ["c"]], "made": [None]},
    )
    expected = {
        "kept": True,
        "new": {"deep": [1]},
        "count": 6,
        "fresh": -1,
        "list": ["a", "b", ["c"]],
        "made": [None],
    }
    assert (answer.status, answer.json["version"], answer.headers["etag"]) == (200, 2, '"2"')
    assert answer.json["state"] == expected
    assert read(api, session_id) == answer.json


def test_awkward_keys_stay_apart_from_the_items_own_attributes(api: Acting, raw: RawTable) -> None:
    values = {key: f"mine {number}" for number, key in enumerate(AWKWARD_KEYS)}
    session_id = create(api, {"state": values})["sessionId"]
    assert read(api, session_id)["state"] == values
    before = raw.metadata(session_id)
    assert patch(api, session_id, remove=AWKWARD_KEYS).json["state"] == {}
    assert patch(api, session_id, set=values).json["state"] == values
    after = raw.metadata(session_id)
    assert before is not None
    assert after is not None
    assert set(before) == set(after)
    for own in (Attribute.PK, Attribute.SK, Attribute.STATUS, Attribute.TTL, Attribute.CREATED_AT):
        assert after[own] == before[own]
    assert after[Attribute.VERSION] == {"N": "3"}


@pytest.mark.parametrize("operation", ["increment", "append"])
def test_awkward_keys_are_counted_and_appended_to(api: Acting, operation: str) -> None:
    session_id = create(api)["sessionId"]
    change: Any = 1 if operation == "increment" else ["x"]
    for _ in range(2):
        answer = patch(api, session_id, **{operation: dict.fromkeys(AWKWARD_KEYS, change)})
    assert answer.json["state"] == dict.fromkeys(AWKWARD_KEYS, change * 2)
    assert read(api, session_id)["status"] == "initializing"


@pytest.mark.parametrize(
    ("operations", "path"),
    [
        ({"append": {"text": ["x"]}}, "$.append.text"),
        ({"append": {"number": ["x"]}}, "$.append.number"),
        ({"append": {"map": ["x"]}}, "$.append.map"),
        ({"append": {"null": ["x"]}}, "$.append.null"),
        ({"increment": {"list": 1}}, "$.increment.list"),
        ({"increment": {"text": 1}}, "$.increment.text"),
        ({"increment": {"flag": 1}}, "$.increment.flag"),
        ({"increment": {"null": 1}}, "$.increment.null"),
        ({"increment": {"fresh": "1"}}, "$.increment.fresh"),
        ({"increment": {"fresh": True}}, "$.increment.fresh"),
        ({"increment": {"fresh": None}}, "$.increment.fresh"),
        ({"append": {"fresh": "x"}}, "$.append.fresh"),
        ({"append": {"fresh": {"a": 1}}}, "$.append.fresh"),
        ({"append": {"list": ["kept?"]}, "increment": {"text": 1}}, "$.increment.text"),
        ({"set": {"k": 1}, "remove": ["k"]}, "$.remove.k"),
        ({"set": {"k": 1}, "increment": {"k": 1}}, "$.increment.k"),
        ({"increment": {"k": 1}, "append": {"k": [1]}}, "$.append.k"),
        ({"remove": ["k", "k"]}, "$.remove.k"),
        ({"set": {"": 1}}, "$.set"),
        ({"remove": [""]}, "$.remove"),
        ({"set": {f"k{number}": number for number in range(51)}}, "$"),
        (
            {
                "set": {f"k{number}": number for number in range(25)},
                "remove": [f"r{number}" for number in range(26)],
            },
            "$",
        ),
        ({}, "$"),
        ({"set": {}, "append": {}}, "$"),
        ({"set": []}, "$.set"),
        ({"remove": {"k": 1}}, "$.remove"),
        ({"remove": [1]}, "$.remove[0]"),
        ({"set": None}, "$.set"),
    ],
)
def test_what_cannot_be_done_is_refused_by_its_path(
    api: Acting, raw: RawTable, operations: dict[str, Any], path: str
) -> None:
    state = {"text": "a", "number": 1, "map": {}, "list": [1], "flag": True, "null": None, "k": 0}
    session_id = create(api, {"state": state})["sessionId"]
    before = raw.partition(session_id)
    assert_problem(patch(api, session_id, **operations), 400, "invalid-request", {"path": path})
    assert raw.partition(session_id) == before


def test_fifty_keys_in_one_patch_are_welcome(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    fifty = {f"k{number}": number for number in range(50)}
    assert patch(api, session_id, set=fifty).json["state"] == fifty


def test_replacing_the_state_leaves_nothing_of_the_old(api: Acting) -> None:
    session_id = create(api, {"state": {"old": 1}, "protocol": {"clientInfo": {"name": "n"}}})["sessionId"]
    answer = api.call("PUT", f"/sessions/{session_id}/state", {"new": 2}, {"If-Match": '"1"'})
    assert (answer.status, answer.json["state"]) == (200, {"new": 2})
    assert answer.json["protocol"] == {"clientInfo": {"name": "n"}}
    emptied = api.call("PUT", f"/sessions/{session_id}/state", {}, {"If-Match": '"2"'})
    assert (emptied.status, emptied.json["state"]) == (200, {})


def test_more_than_64_kb_of_state_in_one_request_is_refused(api: Acting, raw: RawTable) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    large = {"k": "x" * (64 * 1024)}
    assert_problem(
        api.call("POST", "/sessions", {"state": large}), 413, "payload-too-large", {"limit": 65536}
    )
    assert_problem(patch(api, session_id, set=large), 413, "payload-too-large")
    answer = api.call("PUT", f"/sessions/{session_id}/state", large, {"If-Match": "*"})
    assert_problem(answer, 413, "payload-too-large")
    assert raw.partition(session_id) == before


@pytest.mark.parametrize("operation", ["set", "append"])
def test_a_state_that_outgrows_its_item_is_refused_and_kept_as_it_was(
    api: Acting, raw: RawTable, operation: str
) -> None:
    session_id = create(api)["sessionId"]
    block = "x" * 60_000
    for number in range(7):
        before = raw.partition(session_id)
        change: Any = {f"k{number}": block} if operation == "set" else {"k": [block]}
        answer = patch(api, session_id, **{operation: change})
        if answer.status != 200:
            break
    assert number == 6
    assert_problem(answer, 413, "payload-too-large", {"limit": 409_600})
    assert raw.partition(session_id) == before
