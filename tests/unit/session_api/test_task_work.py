"""Tasks over the API: claimed, held and failed by workers."""

from typing import Any

import pytest

from session_store.domain.task import MAX_ATTEMPTS
from tests.support.api import InProcessApi
from tests.support.session_calls import OVER
from tests.support.task_calls import NUMBERS, Queue, worn_out
from tests.support.world import World


def test_numbers_come_back_as_they_went_through_payload_result_and_error(queue: Queue) -> None:
    queue.created(NUMBERS)
    task = queue.claimed()
    assert task["payload"] == NUMBERS
    assert queue.fail(task, NUMBERS, retryInSeconds=0).json["error"] == NUMBERS
    done = queue.complete(queue.claimed(), NUMBERS)
    assert '"n":0.1,"big":9007199254740993' in done.text
    assert queue.read(task["taskId"])["result"] == NUMBERS


def test_a_task_without_a_due_time_is_due_at_once_and_one_with_it_then(queue: Queue, world: World) -> None:
    later = queue.created(dueAt="2027-01-15T08:01:00.500+00:00")
    first = queue.created()
    assert queue.claimed()["taskId"] == first
    assert queue.nothing_due()
    world.clock.pass_(59.999)
    assert queue.nothing_due()
    world.clock.pass_(0.001)
    assert queue.claimed()["taskId"] == later


def test_a_task_has_one_worker_until_its_lease_is_over_by_every_clock(queue: Queue, world: World) -> None:
    queue.created()
    task = queue.claimed()
    assert (task["status"], task["owner"], task["attempts"]) == ("claimed", "worker-1", 1)
    assert task["nextAt"] == "2027-01-15T08:01:00.500Z"
    world.clock.pass_(OVER - 0.001)
    assert queue.nothing_due()
    world.clock.pass_(0.001)
    again = queue.claimed(subject="worker-2")
    assert (again["taskId"], again["owner"], again["attempts"]) == (task["taskId"], "worker-2", 2)
    assert again["fence"] > task["fence"]


def test_several_tasks_are_claimed_at_once_and_no_more_than_are_due(queue: Queue) -> None:
    made = {queue.created(number) for number in range(7)}
    first = queue.claim(most=5).json["items"]
    rest = queue.claim(most=5).json["items"]
    assert (len(first), len(rest)) == (5, 2)
    assert {task["taskId"] for task in (*first, *rest)} == made


def test_no_more_is_claimed_than_a_response_holds(queue: Queue) -> None:
    for _ in range(7):
        queue.created("x" * 290_000)
    sizes = [len(queue.claim(most=7).json["items"]) for _ in range(2)]
    assert sizes == [5, 2]


def test_a_stale_holder_is_fenced(queue: Queue, world: World) -> None:
    queue.created()
    task = queue.claimed()
    world.clock.pass_(OVER)
    successor = queue.claimed(subject="worker-2")
    for answer in (queue.complete(task), queue.fail(task), queue.heartbeat(task)):
        assert (answer.status, answer.slug) == (409, "fenced")
    assert queue.read(task["taskId"]) == successor
    assert queue.complete(successor, "newer").status == 200
    assert queue.complete(task, "older").slug == "fenced"
    assert queue.read(task["taskId"])["result"] == "newer"


def test_the_holder_of_the_fence_may_finish_late_unless_it_was_taken_over(queue: Queue, world: World) -> None:
    queue.created()
    task = queue.claimed()
    world.clock.pass_(OVER + 1000)
    assert queue.complete(task).json["status"] == "completed"


def test_a_heartbeat_extends_a_lease_and_never_shortens_it(queue: Queue, world: World) -> None:
    queue.created()
    task = queue.claimed()
    world.clock.pass_(30)
    longer = queue.heartbeat(task, 120).json
    assert longer["nextAt"] == "2027-01-15T08:02:30.500Z"
    assert queue.heartbeat(task, 1).json == longer
    world.clock.pass_(OVER)
    assert queue.nothing_due()


def test_a_failed_attempt_is_followed_by_another_after_a_growing_pause(queue: Queue, world: World) -> None:
    queue.created()
    for attempt, pause in enumerate((10, 20, 40, 80), start=1):
        task = queue.claimed()
        given_back = queue.fail(task, {"n": attempt}).json
        assert (given_back["status"], given_back["error"]) == ("pending", {"n": attempt})
        assert (given_back["owner"], given_back["attempts"]) == ("worker-1", attempt)
        world.clock.pass_(pause - 0.001)
        assert queue.nothing_due()
        world.clock.pass_(0.001)
    last = queue.fail(queue.claimed(), "for good", retryInSeconds=1).json
    assert (last["status"], last["error"], last["attempts"]) == ("failed", "for good", MAX_ATTEMPTS)
    assert last["retainUntil"] is not None
    world.clock.pass_(1000)
    assert queue.nothing_due()


def test_a_failure_may_say_when_the_task_is_due_again(queue: Queue, world: World) -> None:
    queue.created()
    queue.fail(queue.claimed(), retryInSeconds=3)
    world.clock.pass_(2.999)
    assert queue.nothing_due()
    world.clock.pass_(0.001)
    assert queue.claimed()["attempts"] == 2


def test_the_same_failure_again_is_a_success_until_the_task_is_claimed(queue: Queue, world: World) -> None:
    queue.created()
    task = queue.claimed()
    first = queue.fail(task)
    world.clock.pass_(5)
    assert queue.fail(task) == first
    assert queue.fail(task, "another").slug == "fenced"
    assert queue.complete(task).slug == "fenced"
    world.clock.pass_(5)
    successor = queue.claimed()
    assert queue.fail(task).slug == "fenced"
    assert queue.read(task["taskId"]) == successor


def test_the_last_failure_can_be_replayed(queue: Queue, world: World) -> None:
    task = worn_out(queue, world.clock.pass_)
    first = queue.fail(task)
    assert first.json["status"] == "failed"
    assert queue.fail(task) == first
    assert queue.complete(task).slug == "idempotency-mismatch"


def test_a_claim_writes_the_failure_of_a_last_attempt_that_expired(queue: Queue, world: World) -> None:
    task = worn_out(queue, world.clock.pass_)
    world.clock.pass_(OVER - 0.001)
    assert queue.read(task["taskId"])["status"] == "claimed"
    world.clock.pass_(0.001)
    assert queue.nothing_due()
    failed = world.memory.tasks[task["taskId"]]
    assert (failed.status, failed.error) == ("failed", {"reason": "last-lease-over"})
    for late in (queue.complete(task), queue.fail(task), queue.heartbeat(task)):
        assert late.slug == "fenced"


def test_a_last_attempt_that_expired_reads_as_failed(queue: Queue, world: World) -> None:
    task = worn_out(queue, world.clock.pass_)
    world.clock.pass_(OVER)
    shown = queue.read(task["taskId"])
    assert (shown["status"], shown["error"]) == ("failed", {"reason": "last-lease-over"})
    assert queue.read(task["taskId"]) == shown
    assert queue.listed() == []
    assert queue.complete(task).slug == "fenced"


def test_a_task_fails_at_its_deadline_unless_its_lease_is_running(queue: Queue, world: World) -> None:
    deadline = "2027-01-15T08:00:30.500Z"
    waiting = queue.created("waiting", deadline=deadline, dueAt=deadline)
    queue.created("held", deadline=deadline)
    held = queue.claimed()
    world.clock.pass_(30)
    assert queue.nothing_due()
    assert queue.read(waiting)["error"] == {"reason": "deadline-passed"}
    assert queue.complete(held).status == 200


def test_a_task_whose_lease_expired_past_its_deadline_is_not_claimed_again(
    queue: Queue, world: World
) -> None:
    task_id = queue.created(deadline="2027-01-15T08:00:30.500Z")
    queue.claimed()
    world.clock.pass_(OVER)
    assert queue.nothing_due()
    assert queue.read(task_id)["status"] == "failed"


@pytest.mark.parametrize(
    "body",
    [
        {"leaseSeconds": 0},
        {"leaseSeconds": 3601},
        {"leaseSeconds": True},
        {"leaseSeconds": "60"},
        {"leaseSeconds": 60_000},
        {"max": 0},
        {"max": 11},
        {"queue": "a b"},
    ],
)
def test_a_claim_out_of_range_is_refused(api: InProcessApi, body: dict[str, Any]) -> None:
    whole = {"queue": "q", "leaseSeconds": 60, **body}
    assert api.call("POST", "/tasks/claim", whole).slug == "invalid-request"
