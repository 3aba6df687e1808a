"""What operators do, over HTTP."""

from typing import Any

import pytest

from tests.support.api import InProcessApi
from tests.support.world import World


@pytest.fixture
def api(world: World) -> InProcessApi:
    return InProcessApi(world)


def test_what_ends_soon_is_drained(api: InProcessApi) -> None:
    soon, late = api.open(idleTimeout=600), api.open(idleTimeout=3600)
    answer = api.call("POST", "/ops/drain", {"withinSeconds": 900}, subject=None)
    assert (answer.status, answer.json) == (200, {"moved": 1, "skipped": 0, "more": False})
    assert api.call("GET", f"/sessions/{soon}").json["status"] == "closing"
    assert api.call("GET", f"/sessions/{late}").json["status"] == "initializing"
    again = api.call("POST", "/ops/drain", {"withinSeconds": 900}, subject=None)
    assert again.json == {"moved": 0, "skipped": 0, "more": False}


@pytest.mark.parametrize("within", [0, -1, 7_776_001, "900", 900.5, True, None])
def test_how_soon_is_a_number_of_seconds_in_range(api: InProcessApi, within: Any) -> None:
    answer = api.call("POST", "/ops/drain", {"withinSeconds": within})
    assert (answer.slug, answer.json["path"]) == ("invalid-request", "$.withinSeconds")


def test_how_soon_must_be_said(api: InProcessApi) -> None:
    assert api.call("POST", "/ops/drain", {}).slug == "invalid-request"
