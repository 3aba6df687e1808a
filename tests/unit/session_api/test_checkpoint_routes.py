"""``/sessions/{sessionId}/checkpoints``: statuses, headers, cursors."""

from typing import Any

import pytest

from tests.support.api import Answer, InProcessApi
from tests.support.samples import NOW_MS

KEY = {"Idempotency-Key": "k"}


@pytest.fixture
def path(api: InProcessApi) -> str:
    return f"/sessions/{api.open()}/checkpoints"


def replayed(answer: Answer) -> tuple[int, str | None]:
    return answer.status, answer.headers.get("Idempotent-Replayed")


def test_a_replay_by_id_is_200_and_one_by_key_is_the_first_response(api: InProcessApi, path: str) -> None:
    named = {"data": 1, "checkpointId": api.world.ids.message_id(NOW_MS)}
    answers = [api.call("POST", path, named) for _ in range(2)]
    assert [replayed(each) for each in answers] == [(201, None), (200, None)]
    assert answers[0].text == answers[1].text
    answers = [api.call("POST", path, {"data": 2}, headers=KEY) for _ in range(2)]
    assert [replayed(each) for each in answers] == [(201, None), (201, "true")]
    assert answers[0].text == answers[1].text
    assert replayed(api.call("POST", path, named, headers={"Idempotency-Key": "other"})) == (200, None)
    assert api.call("POST", path, {"data": 3}, headers=KEY).slug == "idempotency-mismatch"


def test_a_checkpoint_is_returned_in_full(api: InProcessApi, path: str) -> None:
    parent = api.call("POST", path, {"data": None, "namespace": "n"}).json["checkpointId"]
    body = {"data": {"a": [0]}, "namespace": "n", "parentId": parent, "retainSeconds": 900}
    added = api.call("POST", path, body)
    identifier = added.json["checkpointId"]
    assert added.json == {
        "checkpointId": identifier,
        "namespace": "n",
        "parentId": parent,
        "data": {"a": [0]},
        "createdAt": "2027-01-15T08:00:00.500Z",
        "expiresAt": "2027-01-15T08:15:00.000Z",
    }
    query = {"namespace": "n"}
    for read in (f"{path}/latest", f"{path}/{identifier}"):
        assert api.call("GET", read, query=query).text == added.text
    for elsewhere in (f"{path}/latest", f"{path}/{identifier}"):
        answer = api.call("GET", elsewhere)
        assert (answer.slug, "checkpoint in this namespace" in answer.json["detail"]) == ("not-found", True)


@pytest.mark.parametrize(
    "other", [{"namespace": "m"}, {"namespace": ""}, {}, {"namespace": "n", "order": "desc"}]
)
def test_a_cursor_belongs_to_one_namespace_and_one_order(
    api: InProcessApi, path: str, other: dict[str, Any]
) -> None:
    for number in range(3):
        api.call("POST", path, {"data": number, "namespace": "n"})
    page = api.call("GET", path, query={"namespace": "n", "limit": "2"}).json
    cursor = {"cursor": page["nextCursor"]}
    rest = api.call("GET", path, query={"namespace": "n", **cursor}).json
    assert ([item["data"] for item in page["items"] + rest["items"]], rest["nextCursor"]) == ([0, 1, 2], None)
    assert api.call("GET", path, query={**other, **cursor}).json["path"] == "query cursor"


@pytest.mark.parametrize("identifier", ["x", "LATEST", "latest%20"])
def test_a_malformed_id_is_refused(api: InProcessApi, path: str, identifier: str) -> None:
    api.call("POST", path, {"data": 1})
    answer = api.call("GET", f"{path}/{identifier}")
    assert (answer.status, answer.json["path"]) == (400, "checkpointId")
