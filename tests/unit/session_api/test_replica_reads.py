"""Reads with Session-Min-Version: an older replica answers with the home region."""

from collections.abc import Mapping

import pytest

from tests.support.api import InProcessApi, StoreApi
from tests.support.world import World

READS = ["", "/context", "/tool-calls", "/tool-calls/c1", "/history", "/checkpoints", "/checkpoints/latest"]
EACH_READ = pytest.mark.parametrize("read", READS)


@pytest.fixture
def replica(world: World) -> StoreApi:
    return StoreApi(world.seen_from("eu-west-1"))


@pytest.fixture
def path(api: InProcessApi) -> str:
    """Of a session at version 2 with a finished call."""
    path = f"/sessions/{api.open()}"
    assert api.call("PATCH", f"{path}/state", {"set": {"a": 1}}).json["version"] == 2
    body = {"toolName": "t", "input": None, "durationMs": 1}
    assert api.call("PUT", f"{path}/tool-calls/c1", body).status == 201
    assert api.call("POST", f"{path}/checkpoints", {"data": 1}).status == 201
    return path


def seen(version: int) -> Mapping[str, str]:
    return {"Session-Min-Version": str(version)}


@EACH_READ
def test_a_replica_below_the_minimum_version_is_misdirected(replica: StoreApi, path: str, read: str) -> None:
    answer = replica.call("GET", path + read, headers=seen(3))
    assert (answer.status, answer.slug, answer.json["homeRegion"]) == (421, "misdirected", "us-east-1")


@EACH_READ
def test_a_replica_at_the_minimum_version_answers(
    api: InProcessApi, replica: StoreApi, path: str, read: str
) -> None:
    expected = api.call("GET", path + read)
    for headers in (None, seen(0), seen(1), seen(2)):
        answer = replica.call("GET", path + read, headers=headers)
        assert (answer.status, answer.text) == (200, expected.text)


@EACH_READ
def test_the_home_region_answers_whatever_the_minimum_version(
    api: InProcessApi, path: str, read: str
) -> None:
    assert api.call("GET", path + read, headers=seen(3)).status == 200


@EACH_READ
def test_a_version_that_is_no_number_is_an_invalid_request(api: InProcessApi, path: str, read: str) -> None:
    answer = api.call("GET", path + read, headers={"Session-Min-Version": "two"})
    assert (answer.slug, answer.json["path"]) == ("invalid-request", "header Session-Min-Version")
