"""Versions: who writes what another has written meanwhile is told, and nothing is merged."""

import pytest

from tests.support.calls import Acting, assert_problem, create, create_in, read
from tests.support.raw_table import RawTable

MALFORMED = ["1", '"', '""', "abc", '"abc"', 'W/"1"', '"1", "2"', '"-1"', '"1.0"', "'1'", '"1"x', "**"]


def at_version_5(api: Acting) -> str:
    session_id: str = create(api, {"state": {"a": 0}})["sessionId"]
    for number in range(1, 5):
        api.call("PATCH", f"/sessions/{session_id}/state", {"set": {"a": number}})
    assert read(api, session_id)["version"] == 5
    return session_id


@pytest.mark.parametrize(
    ("method", "first", "second"),
    [
        ("PATCH", {"set": {"a": "first"}}, {"set": {"b": "second"}}),
        ("PATCH", {"increment": {"n": 1}}, {"append": {"b": ["second"]}}),
        ("PUT", {"a": "first"}, {"b": "second"}),
    ],
)
def test_of_two_writers_at_one_version_the_second_is_refused(
    api: Acting, raw: RawTable, method: str, first: object, second: object
) -> None:
    session_id = at_version_5(api)
    path = f"/sessions/{session_id}/state"
    won = api.call(method, path, first, {"If-Match": '"5"'})
    assert (won.status, won.json["version"]) == (200, 6)
    after_first = raw.partition(session_id)
    lost = api.call(method, path, second, {"If-Match": '"5"'})
    assert_problem(lost, 412, "version-conflict", {"currentVersion": 6})
    assert raw.partition(session_id) == after_first
    assert read(api, session_id) == won.json


def test_every_session_answer_carries_its_version_as_etag(api: Acting) -> None:
    created = api.call("POST", "/sessions", {})
    path = f"/sessions/{created.json['sessionId']}"
    answers = [
        created,
        api.call("GET", path),
        api.call("POST", f"{path}/touch"),
        api.call("PATCH", f"{path}/state", {"set": {"a": 1}}),
        api.call("PUT", f"{path}/state", {}, {"If-Match": '"2"'}),
        api.call("POST", f"{path}/status", {"to": "active"}),
    ]
    assert [answer.headers["etag"] for answer in answers] == ['"1"', '"1"', '"1"', '"2"', '"3"', '"4"']
    assert [answer.json["version"] for answer in answers] == [1, 1, 1, 2, 3, 4]
    assert f"/{created.headers['location']}" == path


def test_a_stale_move_or_touch_is_refused(api: Acting, raw: RawTable) -> None:
    session_id = at_version_5(api)
    before = raw.partition(session_id)
    stale = {"If-Match": '"4"'}
    for path, body in (("status", {"to": "active"}), ("touch", None)):
        answer = api.call("POST", f"/sessions/{session_id}/{path}", body, stale)
        assert_problem(answer, 412, "version-conflict", {"currentVersion": 5})
    assert raw.partition(session_id) == before


def test_replacing_the_state_demands_a_version(api: Acting, raw: RawTable) -> None:
    session_id = at_version_5(api)
    before = raw.partition(session_id)
    answer = api.call("PUT", f"/sessions/{session_id}/state", {"a": 1})
    assert_problem(answer, 428, "precondition-required")
    assert raw.partition(session_id) == before


@pytest.mark.parametrize("etag", MALFORMED)
def test_a_malformed_if_match_is_refused(api: Acting, raw: RawTable, etag: str) -> None:
    session_id = create_in(api, "active")
    before = raw.partition(session_id)
    path = f"/sessions/{session_id}"
    headers = {"If-Match": etag}
    for answer in (
        api.call("PUT", f"{path}/state", {}, headers),
        api.call("PATCH", f"{path}/state", {"set": {"a": 1}}, headers),
        api.call("POST", f"{path}/status", {"to": "closing"}, headers),
        api.call("POST", f"{path}/touch", None, headers),
        api.call("DELETE", path, None, headers),
    ):
        assert_problem(answer, 400, "invalid-request", {"path": "header If-Match"})
    assert raw.partition(session_id) == before


def test_any_version_may_be_expected(api: Acting) -> None:
    session_id = at_version_5(api)
    answer = api.call("PUT", f"/sessions/{session_id}/state", {"a": 1}, {"If-Match": "*"})
    assert (answer.status, answer.json["version"]) == (200, 6)


@pytest.mark.parametrize("version", ["abc", "-1", "1.5", '"1"', "1 2", "1e3", "0x1"])
def test_a_malformed_least_version_is_refused(api: Acting, version: str) -> None:
    path = f"/sessions/{create(api)['sessionId']}"
    for read_path in (path, f"{path}/context", f"{path}/tool-calls", f"{path}/history"):
        answer = api.call("GET", read_path, headers={"Session-Min-Version": version})
        assert_problem(answer, 400, "invalid-request", {"path": "header Session-Min-Version"})


def test_a_read_is_never_older_than_the_least_version(api: Acting) -> None:
    session_id = at_version_5(api)
    answer = api.call("GET", f"/sessions/{session_id}", headers={"Session-Min-Version": "5"})
    assert (answer.status, answer.json["version"]) == (200, 5)
