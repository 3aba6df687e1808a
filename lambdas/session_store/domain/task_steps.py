"""The transitions of a task: those of the claim machine, with what a task adds."""

from msgspec.structs import replace

from session_store.domain.claim import Standing, Step, guard_unchanged, next_fence, standing
from session_store.domain.claim_steps import extended, overruled, settled
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Author
from session_store.domain.task import (
    MAX_ATTEMPTS,
    Lapse,
    Task,
    TaskKind,
    TaskStatus,
    back_off,
    claimable_from,
    lapses_at,
)
from session_store.domain.times import MILLIS, seconds
from session_store.errors import AlreadyDecidedError, InvalidTransitionError


def taken(task: Task, *, worker: str, lease_seconds: int, author: Author, now_ms: int) -> Step[Task] | None:
    """The task held by ``worker``; None if it cannot be claimed now."""
    free = standing(task, now_ms=now_ms) is Standing.AVAILABLE and now_ms >= claimable_from(task)
    if task.kind is not TaskKind.TASK or not free:
        return None
    until = now_ms + lease_seconds * MILLIS
    held = replace(
        task,
        status=TaskStatus.CLAIMED,
        fence=next_fence(task.fence, now_ms),
        lease_until_ms=until,
        next_at=until,
        attempts=task.attempts + 1,
        worker=worker,
        outcome_hash="",
        author=author,
    )
    return Step(claim=held, guard=guard_unchanged(task, now_ms))


def renewed(task: Task | None, *, fence: int, lease_seconds: int, author: Author, now_ms: int) -> Step[Task]:
    """The task with a renewed lease.

    Raises:
        NotFoundError, FencedError
    """
    until = now_ms + lease_seconds * MILLIS
    step = extended(task, fence=fence, lease_until_ms=until, author=author, now_ms=now_ms)
    return replace(step, claim=replace(step.claim, next_at=step.claim.lease_until_ms))


def completed(
    task: Task | None, *, fence: int, result: JsonValue, outcome_hash: str, author: Author, now_ms: int
) -> Step[Task]:
    """The task completed with a result.

    Raises:
        NotFoundError, FencedError, IdempotencyMismatchError
    """
    step = settled(
        task,
        fence=fence,
        status=TaskStatus.COMPLETED,
        outcome_hash=outcome_hash,
        author=author,
        now_ms=now_ms,
    )
    if step.replayed:
        return step
    return replace(step, claim=_ended(replace(step.claim, result=result, error=None), now_ms))


def failed(
    task: Task | None,
    *,
    fence: int,
    error: JsonValue,
    retry_in: int | None,
    outcome_hash: str,
    author: Author,
    now_ms: int,
) -> Step[Task]:
    """The task after a failed attempt: pending again, or failed if the attempt was the last one allowed.

    ``retry_in``: seconds until the next attempt; None: exponential backoff.

    Raises:
        NotFoundError, FencedError, IdempotencyMismatchError
    """
    last = task is not None and task.attempts >= MAX_ATTEMPTS
    status = TaskStatus.FAILED if last else TaskStatus.PENDING
    step = settled(task, fence=fence, status=status, outcome_hash=outcome_hash, author=author, now_ms=now_ms)
    if step.replayed:
        return step
    if last:
        return replace(step, claim=_ended(replace(step.claim, error=error), now_ms))
    pause = back_off(step.claim.attempts) if retry_in is None else retry_in
    again = replace(step.claim, error=error, next_at=now_ms + pause * MILLIS)
    return replace(step, claim=again)


def cancelled(task: Task, *, author: Author, now_ms: int) -> Step[Task]:
    """The task cancelled; unchanged if it is cancelled already.

    Raises:
        InvalidTransitionError: it has ended in another way.
    """
    if task.status is TaskStatus.CANCELLED:
        return Step(claim=task, guard=None)
    if task.is_settled:
        raise InvalidTransitionError(
            from_status=task.status, to=TaskStatus.CANCELLED, what=f"This {task.kind}"
        )
    step = overruled(task, status=TaskStatus.CANCELLED, outcome_hash="", author=author, now_ms=now_ms)
    return replace(step, claim=_ended(step.claim, now_ms))


def decided(
    task: Task,
    *,
    decision: TaskStatus,
    decided_by: str,
    comment: str | None,
    author: Author,
    now_ms: int,
) -> Step[Task]:
    """The approval with a decision; unchanged if it has this decision already, from any approver.

    Raises:
        AlreadyDecidedError: decided the other way, cancelled, or past its deadline.
    """
    if task.status is decision:
        return Step(claim=task, guard=None)
    overdue = task.deadline_ms is not None and now_ms >= task.deadline_ms
    if task.is_settled or overdue:
        status = task.status if task.is_settled else TaskStatus.EXPIRED
        raise AlreadyDecidedError(status=status)
    step = overruled(task, status=decision, outcome_hash="", author=author, now_ms=now_ms)
    with_decision = replace(step.claim, decided_by=decided_by, comment=comment)
    return replace(step, claim=_ended(with_decision, now_ms))


def lapsed(task: Task, *, author: Author, now_ms: int) -> Step[Task] | None:
    """The task ended by itself, at the time when it lapsed; None if it has not lapsed yet.

    It is retained from now on: its end may be written long after it lapsed.
    """
    at = lapses_at(task)
    if at is None or now_ms < at:
        return None
    approval = task.kind is TaskKind.APPROVAL
    status = TaskStatus.EXPIRED if approval else TaskStatus.FAILED
    step = overruled(task, status=status, outcome_hash="", author=author, now_ms=at)
    ended = _ended(step.claim, at, retained_from=now_ms)
    if approval:
        return replace(step, claim=ended)
    reason = Lapse.LEASE if task.attempts >= MAX_ATTEMPTS else Lapse.DEADLINE
    return replace(step, claim=replace(ended, error={"reason": reason.value}))


def is_open(task: Task, now_ms: int) -> bool:
    """Whether a task has neither ended nor lapsed since it was written."""
    return not as_of(task, now_ms).is_settled


def as_of(task: Task, now_ms: int) -> Task:
    """The task as of ``now_ms``: ended if it has lapsed, whether or not that is written yet."""
    step = lapsed(task, author=task.author, now_ms=now_ms)
    return task if step is None else step.claim


def _ended(task: Task, at: int, *, retained_from: int | None = None) -> Task:
    """The task as it ends, retained from then on (or from ``retained_from`` on) for as long as it asked."""
    kept_from = at if retained_from is None else retained_from
    return replace(task, next_at=at, ended_at=at, ttl=seconds(kept_from) + task.retain_seconds)
