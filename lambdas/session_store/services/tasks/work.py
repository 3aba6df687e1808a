"""Tasks as whoever works on them has them: taken, held, done or given back."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec import Struct

from session_store.domain.caller import Caller, Permission
from session_store.domain.claim import ClaimGuard, Step
from session_store.domain.identifiers import check_identifier
from session_store.domain.json_values import JsonValue, check_nesting
from session_store.domain.payload import payload_size
from session_store.domain.session import author_of
from session_store.domain.task import LONGEST_DELAY, Task
from session_store.domain.task_steps import completed, failed, held_longer, lapsed, taken
from session_store.domain.task_writes import TaskSettlement
from session_store.domain.tokens import token_of
from session_store.errors import InvalidRequestError, OutcomeUnknownError, ThrottledError
from session_store.ports import TaskStorage
from session_store.services.access import SessionAccess
from session_store.services.claim_stepping import MAX_CONFLICT_ATTEMPTS, check_lease
from session_store.services.payloads import check_inline
from session_store.services.tasks.access import TaskAccess, check_permission
from session_store.services.tasks.new_tasks import (
    NewTask,
    Origin,
    build_followers,
    check_followers,
    follower_ids,
)
from session_store.services.tasks.requests import TaskCompletion, TaskFailure

MAX_CLAIM: Final = 10
"""Tasks that one call takes."""

CHOICE: Final = 10
"""Among how many of the first due one is picked at random, so that workers seldom want the same."""

LOOKED_AT_ONCE: Final = 20
MOST_LOOKED_AT: Final = 400
"""Tasks that one call reads: where so many were just taken by others, it says that there is none for now."""

MOST_BYTES: Final = 1_200_000
"""Of JSON that the tasks of one call have, the first apart: its answer must fit into one of Lambda."""


class CompletedTask(Struct, frozen=True, kw_only=True):
    """``following``: ids of the tasks that were created with it."""

    task: Task
    following: Sequence[str]
    replayed: bool


class TaskWork(Struct, frozen=True, kw_only=True):
    """``shuffle`` puts a list into random order."""

    storage: TaskStorage
    access: TaskAccess
    sessions: SessionAccess
    shuffle: Callable[[list[Any]], None]

    def claim(self, caller: Caller, *, queue: str, lease_seconds: int, most: int = 1) -> list[Task]:
        """Up to ``most`` tasks of a queue that are due, each held for ``lease_seconds`` by this caller alone.

        Those are among them whose worker let the lease run out; where that was the last attempt, the task
        fails instead.

        Raises:
            ForbiddenError: the caller is no worker.
            InvalidRequestError
        """
        check_permission(caller, Permission.WORKER)
        check_identifier(queue, path="$.queue")
        check_lease(lease_seconds)
        if not 1 <= most <= MAX_CLAIM:
            raise InvalidRequestError(f"Must be 1 to {MAX_CLAIM}", path="$.max")
        found: list[Task] = []
        try:
            for task in self._candidates(caller, queue, most):
                held = self._taken(caller, task, lease_seconds)
                if held is not None:
                    found.append(held)
                if len(found) == most or sum(map(_size, found)) > MOST_BYTES:
                    break
        except (OutcomeUnknownError, ThrottledError):
            # What is taken is taken, and is of use to nobody else until its lease is over.
            if not found:
                raise
        return found

    def _candidates(self, caller: Caller, queue: str, most: int) -> Iterator[Task]:
        """As they are now, so that an entry of the index which is out of date costs no write.

        As many at once as are wanted, and twice as many each time that others were faster.
        """
        region, now_ms = self.access.region, self.access.clock.now_ms()
        looked_at, wanted = 0, most
        for ids in self.storage.due(
            caller.tenant, queue, region=region, now_ms=now_ms, limit=CHOICE + most, shuffle=self.shuffle
        ):
            order = list(ids)
            self.shuffle(order)
            while order:
                part, order = order[:wanted], order[wanted:]
                there = self.storage.read_all(part)
                yield from (there[task_id] for task_id in part if task_id in there)
                looked_at, wanted = looked_at + len(part), min(2 * wanted, LOOKED_AT_ONCE)
            if looked_at >= MOST_LOOKED_AT:
                return

    def _taken(self, caller: Caller, task: Task, lease_seconds: int) -> Task | None:
        """None where another was faster, or there is nothing more to be done about it."""
        now_ms, author = self.access.clock.now_ms(), author_of(caller)
        over = lapsed(task, author=author, now_ms=now_ms)
        wanted = over or taken(
            task, worker=caller.subject, lease_seconds=lease_seconds, author=author, now_ms=now_ms
        )
        step = None if wanted is None else self.access.with_write_id(wanted)
        if step is None or step.guard is None or self.storage.put(step.claim, step.guard) is not None:
            return None
        return None if over else step.claim

    def heartbeat(self, caller: Caller, task_id: str, *, fence: int, lease_seconds: int) -> Task:
        """The task, held for ``lease_seconds`` from now; a lease that is longer stays.

        Raises:
            FencedError: another has taken it, or it is over.
            ForbiddenError, NotFoundError, MisdirectedError, InvalidRequestError
        """
        check_permission(caller, Permission.WORKER)
        check_lease(lease_seconds)

        def judge(task: Task) -> Step[Task]:
            now_ms, author = self.access.clock.now_ms(), author_of(caller)
            return held_longer(task, fence=fence, lease_seconds=lease_seconds, author=author, now_ms=now_ms)

        return self.access.apply_step(caller, task_id, judge).claim

    def fail(
        self, caller: Caller, task_id: str, *, fence: int, error: JsonValue, retry_in: int | None = None
    ) -> Step[Task]:
        """The task, to be taken again after ``retry_in`` seconds or a growing pause; failed the fifth time.

        The same again is success until somebody takes it; ``guard`` None: it was so already.

        Raises:
            FencedError, IdempotencyMismatchError
            ForbiddenError, NotFoundError, MisdirectedError, InvalidRequestError, PayloadTooLargeError
        """
        check_permission(caller, Permission.WORKER)
        if retry_in is not None and not 0 <= retry_in <= LONGEST_DELAY:
            raise InvalidRequestError(f"Must be 0 to {LONGEST_DELAY} seconds", path="$.retryInSeconds")
        check_nesting(error, path="$.error")
        request = TaskFailure(fence=fence, error=error, retry_in=retry_in)

        def judge(task: Task) -> Step[Task]:
            step = failed(
                task,
                fence=fence,
                error=error,
                retry_in=retry_in,
                outcome_hash=request.outcome_hash,
                author=author_of(caller),
                now_ms=self.access.clock.now_ms(),
            )
            return _fitting(step, "$.error", error)

        return self.access.apply_step(caller, task_id, judge)

    def complete(
        self,
        caller: Caller,
        task_id: str,
        *,
        fence: int,
        result: JsonValue,
        following: Sequence[NewTask] = (),
    ) -> CompletedTask:
        """The task with its result, and those that follow it, in one transaction.

        They are in its session, unless they name another one of the caller's. The same again is success,
        and creates none.

        Raises:
            FencedError: another has taken it, or it is over otherwise.
            IdempotencyMismatchError: it is completed with another result.
            ForbiddenError, NotFoundError, MisdirectedError, InvalidRequestError, PayloadTooLargeError,
            SessionNotFoundError
        """
        check_permission(caller, Permission.WORKER)
        check_nesting(result, path="$.result")
        check_followers(caller, following, at="$.next")
        end = TaskCompletion(fence=fence, result=result, following=following)
        for _ in range(MAX_CONFLICT_ATTEMPTS):
            task = self.access.load_at_home(caller, task_id)
            step = completed(
                task,
                fence=fence,
                result=result,
                outcome_hash=end.outcome_hash,
                author=author_of(caller),
                now_ms=self.access.clock.now_ms(),
            )
            step = self.access.with_write_id(_fitting(step, "$.result", result))
            if step.guard is None or self._written(caller, end, step.claim, step.guard):
                ids = follower_ids(len(following), _origin(step.claim))
                return CompletedTask(task=step.claim, following=ids, replayed=step.replayed)
        raise ThrottledError

    def _written(self, caller: Caller, end: TaskCompletion, task: Task, guard: ClaimGuard) -> bool:
        if not end.following:
            return self.storage.put(task, guard) is None
        named = {new.session_id for new in end.following if new.session_id is not None}
        for session_id in sorted(named - {task.session_id}):
            self.sessions.load_at_home(caller, session_id)
        followers = build_followers(
            caller,
            end.following,
            origin=_origin(task),
            session_id=task.session_id,
            region=task.home_region,
            now_ms=guard.now_ms,
        )
        token = token_of("task", task.task_id, end.fence, "complete", end.outcome_hash)
        return self.storage.settle(TaskSettlement(task=task, guard=guard, token=token, followers=followers))


def _origin(task: Task) -> Origin:
    return task.task_id, "task", task.fence


def _size(task: Task) -> int:
    return payload_size(task.payload) + payload_size(task.error)


def _fitting(step: Step[Task], path: str, given: JsonValue) -> Step[Task]:
    """Raises:
    PayloadTooLargeError: more than its item takes beside the payload.
    """
    if step.guard is not None:
        check_inline({path: given}, beside=payload_size(step.claim.payload))
    return step
