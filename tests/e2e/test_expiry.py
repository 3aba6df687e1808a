"""What has reached its end is gone at that very second, on every path, whether or not it still lies there."""

import time

import pytest

from session_store.schema import Attribute
from tests.support.calls import (
    Acting,
    append,
    assert_problem,
    create_in,
    ids,
    items,
    move,
    read,
    tool_call,
    within_one_second,
)
from tests.support.every_call import every_read, every_write
from tests.support.raw_table import RawTable

EXPIRING = "/ops/expiring?withinSeconds=120&limit=100"


def test_a_session_is_readable_to_its_last_second(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active")

    def read_with_a_second_left(now: int) -> bool:
        raw.end_at(session_id, now + 1)
        answer = api.call("GET", f"/sessions/{session_id}")
        listed = ids(api, "/sessions")
        if time.time() >= now + 1:
            return False
        assert (answer.status, answer.json["ttl"]) == (200, now + 1)
        assert listed == [session_id]
        return True

    within_one_second(read_with_a_second_left)


def test_a_session_is_gone_in_the_second_of_its_end(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active")

    def read_at_the_end(now: int) -> bool:
        raw.end_at(session_id, now)
        answer = api.call("GET", f"/sessions/{session_id}")
        assert_problem(answer, 404, "session-not-found")
        return time.time() < now + 1

    within_one_second(read_at_the_end)


@pytest.mark.parametrize("ago", [0, 1, 86_400])
def test_an_expired_session_is_absent_from_every_read(api: Acting, raw: RawTable, ago: int) -> None:
    session_id = create_in(api, "active")
    append(api, session_id, "hello")
    assert api.call("PUT", f"/sessions/{session_id}/tool-calls/early", tool_call()).status == 201
    raw.end_at(session_id, int(time.time()) - ago)
    for answer in every_read(api, session_id).values():
        assert_problem(answer, 404, "session-not-found")


@pytest.mark.parametrize("ago", [0, 1])
def test_an_expired_session_takes_no_write(api: Acting, raw: RawTable, ago: int) -> None:
    session_id = create_in(api, "active", state={"early": 1})
    raw.end_at(session_id, int(time.time()) - ago)
    before = raw.partition(session_id)
    for answer in every_write(api, session_id).values():
        assert_problem(answer, 404, "session-not-found")
    for to in ("active", "closing", "closed"):
        assert_problem(move(api, session_id, to), 404, "session-not-found")
    assert_problem(api.call("DELETE", f"/sessions/{session_id}"), 404, "session-not-found")
    assert raw.partition(session_id) == before


@pytest.mark.parametrize("status", ["initializing", "active", "closing", "closed"])
def test_an_expired_session_is_absent_from_every_list(api: Acting, raw: RawTable, status: str) -> None:
    over, ending, alive = (create_in(api, status) for _ in range(3))
    now = int(time.time())
    for session_id, ttl in ((over, now - 1), (ending, now), (alive, now + 60)):
        raw.end_at(session_id, ttl)
    assert ids(api, "/sessions") == [alive]
    assert ids(api, f"/sessions?status={status}") == [alive]
    expiring = ids(api, f"{EXPIRING}&status={status}")
    assert [found for found in expiring if found in {over, ending, alive}] == [alive]


def test_operators_see_what_ends_soon_of_every_tenant_soonest_first(api: Acting, raw: RawTable) -> None:
    sessions = [create_in(api, "active") for _ in range(6)]
    now = int(time.time())
    for offset, session_id in zip((90, 50, 70, 60, 100, 80), sessions, strict=True):
        raw.end_at(session_id, now + offset)
    found = [
        item
        for item in items(api, "/ops/expiring?withinSeconds=110&limit=2")
        if item["subject"] == api.subject
    ]
    assert [item["ttl"] - now for item in found] == [50, 60, 70, 80, 90, 100]
    assert {item["tenant"] for item in found} == {"000000000000:user/tenant-a"}
    assert {item["status"] for item in found} == {"active"}


def test_what_ends_later_than_asked_for_is_not_listed(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active")
    raw.end_at(session_id, int(time.time()) + 180)
    assert session_id not in ids(api, EXPIRING)
    assert session_id in ids(api, "/ops/expiring?withinSeconds=190&limit=100")


def test_a_use_moves_the_end_once_it_is_due_and_leaves_the_version(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active", idleTimeout=100)
    metadata = raw.metadata(session_id)
    assert metadata is not None
    past = int(time.time()) - 1
    raw.put({**metadata, Attribute.TTL: {"N": str(past + 90)}, Attribute.SLIDE_AFTER: {"N": str(past)}})
    began = int(time.time())
    session = read(api, session_id)
    assert began <= session["ttl"] - 100 <= time.time()
    assert session["version"] == 2


def test_a_burst_of_touches_writes_nothing(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active", idleTimeout=3600)
    before = raw.metadata(session_id)
    for _ in range(20):
        assert api.call("POST", f"/sessions/{session_id}/touch").status == 200
    assert raw.metadata(session_id) == before


def test_no_use_moves_the_end_past_the_longest_life(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active", idleTimeout=600, maxLifetime=300)
    metadata = raw.metadata(session_id)
    assert metadata is not None
    past = int(time.time()) - 1
    raw.put({**metadata, Attribute.TTL: {"N": str(past + 90)}, Attribute.SLIDE_AFTER: {"N": str(past)}})
    session = read(api, session_id)
    assert session["expiresAt"] == session["maxExpiresAt"]
    assert session["ttl"] == int(metadata[Attribute.MAX_EXPIRES_AT]["N"])


def test_children_carry_the_longest_life_of_their_session(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active", idleTimeout=60, maxLifetime=604_800)
    append(api, session_id, "hello")
    assert api.call("PUT", f"/sessions/{session_id}/tool-calls/c1", tool_call()).status == 201
    metadata = raw.metadata(session_id)
    assert metadata is not None
    children = [item for item in raw.partition(session_id) if item != metadata]
    assert len(children) == 3
    assert {item[Attribute.TTL]["N"] for item in children} == {metadata[Attribute.MAX_EXPIRES_AT]["N"]}
