"""Tasks listed over the API."""

import pytest

from tests.support.api import InProcessApi
from tests.support.task_calls import Queue
from tests.support.world import World


def test_a_list_holds_one_tenants_tasks(queue: Queue) -> None:
    queue.created()
    stranger = "arn:aws:sts::444455556666:assumed-role/other/x"
    assert queue.api.call("GET", "/tasks", principal=stranger).json["items"] == []
    body = {"queue": queue.name, "leaseSeconds": 1}
    assert queue.api.call("POST", "/tasks/claim", body, principal=stranger).json["items"] == []


@pytest.mark.parametrize(
    "query",
    [
        {"status": "open"},
        {"kind": "tasks"},
        {"queue": "a b"},
        {"sessionId": "x"},
        {"kind": "approval", "status": "completed"},
        {"kind": "task", "status": "approved"},
        {"cursor": "x"},
        {"limit": "101"},
        {"owner": "me"},
    ],
)
def test_a_list_of_an_impossible_kind_and_status_is_refused(api: InProcessApi, query: dict[str, str]) -> None:
    answer = api.call("GET", "/tasks", query=query)
    assert (answer.slug, answer.json["path"]) == ("invalid-request", f"query {list(query)[-1]}")


def test_a_list_goes_on_where_a_page_ended(queue: Queue) -> None:
    made = [queue.created(number) for number in range(5)]
    first = queue.api.call("GET", "/tasks", query={"limit": "2", "queue": queue.name}).json
    assert len(first["items"]) == 2
    assert sorted(task["taskId"] for task in queue.listed(limit="2")) == sorted(made)
    other = {"queue": queue.name, "status": "claimed", "cursor": first["nextCursor"]}
    assert queue.api.call("GET", "/tasks", query=other).slug == "invalid-request"


def test_lapsed_tasks_are_in_no_list_of_open_ones(queue: Queue, world: World) -> None:
    queue.created(deadline="2027-01-15T08:00:30Z")
    assert len(queue.listed()) == 1
    world.clock.pass_(30)
    assert queue.listed() == []
    assert queue.listed(status="pending") == []
