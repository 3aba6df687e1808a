"""Headers: their case never matters, and one that decides something stands once."""

from collections.abc import Callable

import pytest

from tests.support.calls import SUBJECT, Acting, assert_problem, create, create_in, new_subject, read
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable

SPELLINGS: list[Callable[[str], str]] = [str, str.lower, str.upper, str.title, str.swapcase]
NO_SUBJECTS = ["-", "", ".", "..", "a b", "a\tb", "x" * 129, "ü"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_case_of_header_names_does_not_matter(
    deployed: LiveStack, spelling: Callable[[str], str]
) -> None:
    api = deployed.api("tenant-a")
    subject = new_subject()
    session_id = create(Acting(api, subject))["sessionId"]
    fields = [("Session-Subject", subject), ("If-Match", '"1"'), ("Content-Type", "application/json")]
    path = f"/sessions/{session_id}/state"
    won = api.call_with("PUT", path, fields, body=b'{"a":1}', spelling=spelling)
    assert (won.status, won.json["state"], won.json["subject"]) == (200, {"a": 1}, subject)
    lost = api.call_with("PUT", path, fields, body=b'{"a":2}', spelling=spelling)
    assert_problem(lost, 412, "version-conflict", {"currentVersion": 2})
    malformed = [("Session-Subject", subject), ("Session-Min-Version", "x")]
    answer = api.call_with("GET", f"/sessions/{session_id}", malformed, spelling=spelling)
    assert_problem(answer, 400, "invalid-request", {"path": "header Session-Min-Version"})


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_case_of_the_signature_does_not_matter(
    deployed: LiveStack, spelling: Callable[[str], str]
) -> None:
    assert deployed.api("tenant-a").call_with("GET", "/sessions", [], spelling=spelling).status == 200


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("If-Match", '"2"', '"1"'),
        ("If-Match", '"2"', '"2"'),
        ("if-match", '"2"', '"2"'),
        ("Session-Subject", "mine", "another"),
        ("Session-Min-Version", "1", "2"),
    ],
)
def test_a_header_that_decides_is_refused_when_sent_twice(
    deployed: LiveStack, raw: RawTable, *, name: str, first: str, second: str
) -> None:
    api = deployed.api("tenant-a")
    session_id = create_in(api, "active", state={"a": 0})
    before = raw.partition(session_id)
    fields = [(name, first), (name, second)]
    answers = {
        "get": api.call_with("GET", f"/sessions/{session_id}", fields),
        "patch": api.call_with("PATCH", f"/sessions/{session_id}/state", fields, body=b'{"set":{"a":1}}'),
        "delete": api.call_with("DELETE", f"/sessions/{session_id}", fields),
    }
    if name.lower() == "if-match":
        assert answers.pop("get").status == 200
    for answer in answers.values():
        assert_problem(answer, 400, "invalid-request")
        assert answer.json["path"].lower() == f"header {name.lower()}"
    assert raw.partition(session_id) == before


@pytest.mark.parametrize("subject", NO_SUBJECTS, ids=repr)
def test_what_is_no_subject_is_refused(deployed: LiveStack, subject: str) -> None:
    api = deployed.api("tenant-a")
    for method, path, body in (
        ("POST", "/sessions", b"{}"),
        ("GET", "/sessions", None),
        ("GET", "/ops/expiring", None),
    ):
        answer = api.call_with(method, path, [("Session-Subject", subject)], body=body)
        assert_problem(answer, 400, "invalid-request", {"path": "header Session-Subject"})


@pytest.mark.parametrize(
    "subject", ["a", "x" * 128, "~!@#$%^&*()", "auth0|5f7c8ec7c33c6c004bbafe82", "--", "..."]
)
def test_a_subject_of_printable_ascii_owns_what_it_makes(deployed: LiveStack, subject: str) -> None:
    api = deployed.api("tenant-a")
    session_id = create(Acting(api, subject))["sessionId"]
    assert read(Acting(api, subject), session_id)["subject"] == subject
    assert_problem(api.call("GET", f"/sessions/{session_id}"), 404, "session-not-found")


def test_without_a_subject_the_backend_itself_is_the_owner(deployed: LiveStack) -> None:
    api = deployed.api("tenant-a")
    session_id = create(api)["sessionId"]
    assert read(api, session_id)["subject"] == "-"
    answer = api.call("GET", f"/sessions/{session_id}", headers={SUBJECT: new_subject()})
    assert_problem(answer, 404, "session-not-found")
