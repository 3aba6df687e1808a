"""What a session goes through, and that nothing brings one back."""

import time

import pytest

from session_store.schema import Attribute, Entity
from tests.support.calls import (
    Acting,
    append,
    assert_problem,
    create,
    create_in,
    ids,
    move,
    read,
    tool_call,
)
from tests.support.every_call import every_read, every_write
from tests.support.raw_table import RawTable

STATUSES = ("initializing", "active", "closing", "closed")
ALLOWED = {
    ("initializing", "active"),
    ("initializing", "closing"),
    ("active", "closing"),
    ("closing", "closed"),
}


@pytest.mark.parametrize("to", ["active", "closing", "closed"])
@pytest.mark.parametrize("status", STATUSES)
def test_only_forward_steps_pass(api: Acting, status: str, to: str) -> None:
    session_id = create_in(api, status)
    before = read(api, session_id)
    answer = move(api, session_id, to)
    after = read(api, session_id)
    if (status, to) in ALLOWED:
        assert answer.status == 200
        assert answer.json == after
        assert (to, before["version"] + 1) == (after["status"], after["version"])
    elif status == to:
        assert answer.status == 200
        assert answer.json == before == after
    else:
        assert_problem(answer, 409, "invalid-transition", {"from": status, "to": to})
        assert before == after


@pytest.mark.parametrize("to", ["initializing", "open", "", None, "Active"])
def test_no_step_leads_to_any_other_status(api: Acting, to: object) -> None:
    session_id = create_in(api, "active")
    assert_problem(
        api.call("POST", f"/sessions/{session_id}/status", {"to": to}),
        400,
        "invalid-request",
        {"path": "$.to"},
    )
    assert read(api, session_id)["status"] == "active"


def test_a_late_write_to_a_closed_session_changes_nothing(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "closed", state={"early": 1})
    before = raw.partition(session_id)
    for answer in every_write(api, session_id).values():
        assert_problem(answer, 409, "session-closed")
    assert raw.partition(session_id) == before
    assert read(api, session_id)["version"] == 4


def test_a_closing_session_takes_no_write_but_a_touch(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "closing", state={"early": 1})
    before = raw.partition(session_id)
    answers = every_write(api, session_id)
    assert answers.pop("touch").status == 200
    for answer in answers.values():
        assert_problem(answer, 409, "session-closed")
    assert raw.partition(session_id) == before


def test_a_closed_session_stays_readable_for_a_day(api: Acting) -> None:
    session_id = create_in(api, "closing", idleTimeout=60, maxLifetime=7_776_000)
    append_status = api.call("POST", f"/sessions/{session_id}/status", {"to": "closed"})
    assert append_status.status == 200
    assert append_status.json["ttl"] == pytest.approx(time.time() + 86_400, abs=30)
    assert read(api, session_id)["status"] == "closed"


def test_a_closed_session_never_outlives_its_longest_life(api: Acting) -> None:
    session = create(api, {"maxLifetime": 600})
    move(api, session["sessionId"], "closing")
    closed = move(api, session["sessionId"], "closed").json
    assert closed["expiresAt"] == session["maxExpiresAt"] == closed["maxExpiresAt"]


@pytest.mark.parametrize("status", STATUSES)
def test_a_deleted_session_is_gone_everywhere(api: Acting, raw: RawTable, status: str) -> None:
    session_id = create_in(api, "initializing", state={"early": 1})
    append(api, session_id, "hello")
    assert api.call("PUT", f"/sessions/{session_id}/tool-calls/early", tool_call()).status == 201
    for step in STATUSES[1 : STATUSES.index(status) + 1]:
        assert move(api, session_id, step).status == 200
    deleted = api.call("DELETE", f"/sessions/{session_id}")
    assert (deleted.status, deleted.body) == (204, b"")
    children = raw.partition(session_id)
    for answer in [*every_read(api, session_id).values(), *every_write(api, session_id).values()]:
        assert_problem(answer, 404, "session-not-found")
    for to in STATUSES[1:]:
        assert_problem(move(api, session_id, to), 404, "session-not-found")
    assert_problem(api.call("DELETE", f"/sessions/{session_id}"), 404, "session-not-found")
    assert session_id not in ids(api, "/sessions")
    assert raw.metadata(session_id) is None
    assert raw.partition(session_id) == children


def test_nothing_brings_a_deleted_session_back(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active", state={"early": 1})
    assert api.call("DELETE", f"/sessions/{session_id}").status == 204
    for answer in every_write(api, session_id).values():
        assert_problem(answer, 404, "session-not-found")
    assert raw.partition(session_id) == []


def test_a_delete_is_audited_once_with_its_actor(api: Acting, raw_audit: RawTable) -> None:
    session_id = create_in(api, "active")
    assert api.call("DELETE", f"/sessions/{session_id}").status == 204
    assert api.call("DELETE", f"/sessions/{session_id}").status == 404
    (event,) = raw_audit.partition(session_id)
    assert event[Attribute.ENTITY] == {"S": Entity.AUDIT_EVENT}
    assert event[Attribute.EVENT_NAME] == {"S": "SessionDeleted"}
    assert event[Attribute.ACTOR] == {"S": f"000000000000:user/tenant-a {api.subject}"}
    assert event[Attribute.REQUEST_ID]["S"]
    assert int(event[Attribute.TTL]["N"]) == pytest.approx(time.time() + 90 * 86_400, abs=60)


def test_a_delete_at_another_version_deletes_nothing(api: Acting, raw: RawTable, raw_audit: RawTable) -> None:
    session_id = create_in(api, "active")
    before = raw.partition(session_id)
    answer = api.call("DELETE", f"/sessions/{session_id}", headers={"If-Match": '"1"'})
    assert_problem(answer, 412, "version-conflict", {"currentVersion": 2})
    assert raw.partition(session_id) == before
    assert raw_audit.partition(session_id) == []
    assert api.call("DELETE", f"/sessions/{session_id}", headers={"If-Match": '"2"'}).status == 204
