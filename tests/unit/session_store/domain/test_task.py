"""When tasks lapse, when they can be claimed, and how long they wait after a failure."""

import pytest

from session_store.domain.claim import LEASE_SKEW_MARGIN_MS
from session_store.domain.task import (
    MAX_ATTEMPTS,
    OPEN,
    STATUSES,
    Task,
    TaskKind,
    TaskStatus,
    back_off,
    claimable_from,
    lapses_at,
)
from session_store.domain.task_steps import decided, failed, lapsed, taken
from session_store.domain.times import DAY_SECONDS, MILLIS
from session_store.errors import AlreadyDecidedError
from tests.support.samples import AUTHOR, NOW_MS
from tests.support.task_samples import a_task, an_approval, took

LEASE_END = NOW_MS + 60_000
FREE = LEASE_END + LEASE_SKEW_MARGIN_MS
SOON = NOW_MS + 30_000
LATE = FREE + 30_000


@pytest.mark.parametrize(
    ("task", "at"),
    [
        (a_task(), None),
        (a_task(deadline_ms=SOON), SOON),
        (an_approval(), None),
        (an_approval(deadline_ms=SOON), SOON),
        (took(a_task()).claim, None),
        (took(a_task(deadline_ms=SOON)).claim, FREE),
        (took(a_task(deadline_ms=LATE)).claim, LATE),
        (took(a_task(attempts=MAX_ATTEMPTS - 2)).claim, None),
        (took(a_task(attempts=MAX_ATTEMPTS - 1)).claim, FREE),
        (took(a_task(attempts=MAX_ATTEMPTS - 1, deadline_ms=LATE)).claim, FREE),
        (a_task(status=TaskStatus.FAILED, deadline_ms=SOON), None),
        (an_approval(status=TaskStatus.APPROVED, deadline_ms=SOON), None),
    ],
)
def test_a_task_lapses_at_its_deadline_or_with_its_last_lease(task: Task, at: int | None) -> None:
    assert lapses_at(task) == at
    if at is not None:
        assert lapsed(task, author=AUTHOR, now_ms=at - 1) is None
        step = lapsed(task, author=AUTHOR, now_ms=at)
        assert step is not None
        assert step.claim.is_settled
        assert step.claim.fence > task.fence


@pytest.mark.parametrize("task", [a_task(deadline_ms=SOON), an_approval(deadline_ms=SOON)])
def test_a_task_whose_end_is_written_late_is_retained_from_then_on(task: Task) -> None:
    late = SOON + 100 * DAY_SECONDS * MILLIS
    for at in (SOON, late):
        step = lapsed(task, author=AUTHOR, now_ms=at)
        assert step is not None
        assert (step.claim.ended_at, step.claim.next_at) == (SOON, SOON)
        assert step.claim.ttl == at // MILLIS + task.retain_seconds


def test_a_held_task_is_claimable_once_its_lease_has_expired_on_every_clock() -> None:
    held = took(a_task()).claim
    assert (claimable_from(held), held.next_at) == (FREE, LEASE_END)
    for at, free in ((FREE - 1, False), (FREE, True)):
        step = taken(held, worker="w2", lease_seconds=1, author=AUTHOR, now_ms=at)
        assert (step is not None) is free


def test_an_approval_is_never_held() -> None:
    assert taken(an_approval(), worker="w", lease_seconds=1, author=AUTHOR, now_ms=NOW_MS) is None


def test_pauses_double() -> None:
    assert [back_off(attempts) for attempts in range(1, 5)] == [10, 20, 40, 80]


def test_a_fence_rises_with_every_holder_whatever_the_clocks_say() -> None:
    task = a_task()
    fences = []
    for _ in range(MAX_ATTEMPTS):
        task = took(task, at=task.next_at).claim
        fences.append(task.fence)
        task = failed(
            task,
            fence=task.fence,
            error=1,
            retry_in=0,
            outcome_hash="h",
            author=AUTHOR,
            now_ms=NOW_MS,
        ).claim
    assert len(set(fences)) == MAX_ATTEMPTS
    assert fences == sorted(fences)
    assert task.status is TaskStatus.FAILED


@pytest.mark.parametrize("status", sorted(STATUSES[TaskKind.APPROVAL] - OPEN))
def test_a_decision_stands(status: TaskStatus) -> None:
    over = an_approval(status=status)
    for decision in (TaskStatus.APPROVED, TaskStatus.REJECTED):
        if decision is status:
            step = decided(
                over, decision=decision, decided_by="b", comment=None, author=AUTHOR, now_ms=NOW_MS
            )
            assert (step.claim, step.guard) == (over, None)
        else:
            with pytest.raises(AlreadyDecidedError) as refused:
                decided(over, decision=decision, decided_by="b", comment=None, author=AUTHOR, now_ms=NOW_MS)
            assert refused.value.facts == {"taskStatus": status}


def test_every_status_is_of_a_kind() -> None:
    assert STATUSES[TaskKind.TASK] | STATUSES[TaskKind.APPROVAL] == set(TaskStatus)
