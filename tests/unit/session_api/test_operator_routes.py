"""The routes of operators."""

from typing import Any

import pytest

from tests.support.api import InProcessApi
from tests.support.world import World

PATH = "/ops/expiring"


def test_sessions_that_end_soon_are_drained(api: InProcessApi) -> None:
    soon, late = api.open(idleTimeout=600), api.open(idleTimeout=3600)
    answer = api.call("POST", "/ops/drain", {"withinSeconds": 900}, subject=None)
    assert (answer.status, answer.json) == (200, {"moved": 1, "skipped": 0, "more": False})
    assert api.call("GET", f"/sessions/{soon}").json["status"] == "closing"
    assert api.call("GET", f"/sessions/{late}").json["status"] == "initializing"
    again = api.call("POST", "/ops/drain", {"withinSeconds": 900}, subject=None)
    assert again.json == {"moved": 0, "skipped": 0, "more": False}


@pytest.mark.parametrize("within", [0, -1, 7_776_001, "900", 900.5, True, None])
def test_within_seconds_is_a_whole_number_in_range(api: InProcessApi, within: Any) -> None:
    answer = api.call("POST", "/ops/drain", {"withinSeconds": within})
    assert (answer.slug, answer.json["path"]) == ("invalid-request", "$.withinSeconds")


def test_within_seconds_is_required(api: InProcessApi) -> None:
    assert api.call("POST", "/ops/drain", {}).slug == "invalid-request"


def test_an_expiring_session_is_listed_with_its_owner_and_expiry(api: InProcessApi, world: World) -> None:
    session = world.open(idle_timeout=600)
    answer = api.call("GET", PATH, subject=None)
    assert answer.status == 200
    assert answer.json == {
        "items": [
            {
                "sessionId": session.session_id,
                "tenant": "111122223333:role/backend",
                "subject": "alice",
                "status": "active",
                "ttl": session.ttl,
                "expiresAt": "2027-01-15T08:10:00.000Z",
                "homeRegion": "us-east-1",
            }
        ],
        "nextCursor": None,
    }


def test_only_sessions_that_end_soon_in_the_status_are_listed(api: InProcessApi) -> None:
    opened = api.open(idleTimeout=1000)
    ids = [
        [item["sessionId"] for item in api.call("GET", PATH, query=query).json["items"]]
        for query in (
            {"status": "initializing"},
            {"status": "initializing", "withinSeconds": "999"},
            {"status": "initializing", "withinSeconds": "1000"},
            {"withinSeconds": "1000"},
        )
    ]
    assert ids == [[], [], [opened], []]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"withinSeconds": "0"}, "query withinSeconds"),
        ({"withinSeconds": "7776001"}, "query withinSeconds"),
        ({"status": "gone"}, "query status"),
    ],
)
def test_any_other_query_is_refused(api: InProcessApi, query: dict[str, str], path: str) -> None:
    answer = api.call("GET", PATH, query=query)
    assert (answer.slug, answer.json["path"]) == ("invalid-request", path)
