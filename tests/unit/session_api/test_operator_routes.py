"""What an operator sees."""

import pytest

from tests.support.api import InProcessApi
from tests.support.world import World

PATH = "/ops/expiring"


@pytest.fixture
def api(world: World) -> InProcessApi:
    return InProcessApi(world)


def test_an_expiring_session_is_told_with_its_owner_and_its_end(api: InProcessApi, world: World) -> None:
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


def test_only_what_ends_soon_enough_and_has_the_status_is_told(api: InProcessApi) -> None:
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
def test_any_other_question_is_refused(api: InProcessApi, query: dict[str, str], path: str) -> None:
    answer = api.call("GET", PATH, query=query)
    assert (answer.slug, answer.json["path"]) == ("invalid-request", path)
