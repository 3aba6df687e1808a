"""Tasks as workers use them: claim, extend the lease, complete, fail."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec import Struct

from session_store.domain.caller import Caller, Permission
from session_store.domain.claim import ClaimGuard, Step
from session_store.domain.identifiers import check_identifier
from session_store.domain.json_values import JsonValue, check
from session_store.domain.payload import payload_size
from session_store.domain.session import author_of
from session_store.domain.task import LONGEST_DELAY, Task, TaskKind
from session_store.domain.task_steps import completed, failed, renewed
from session_store.domain.task_writes import TaskSettlement
from session_store.domain.tokens import token_of
from session_store.domain.whole_numbers import check_whole
from session_store.errors import InvalidRequestError, ThrottledError
from session_store.ports import TaskStorage
from session_store.services.access import SessionAccess
from session_store.services.claim_requests import check_lease
from session_store.services.claim_stepping import MAX_CONFLICT_ATTEMPTS
from session_store.services.payloads import check_inline
from session_store.services.permissions import check_permission
from session_store.services.tasks.access import TaskAccess
from session_store.services.tasks.new_tasks import (
    NewTask,
    Origin,
    build_followers,
    check_followers,
    follower_ids,
)
from session_store.services.tasks.queue_claim import QueueClaim
from session_store.services.tasks.requests import TaskCompletion, TaskFailure

MAX_CLAIM: Final = 10
"""Tasks that one call claims."""


class CompletedTask(Struct, frozen=True, kw_only=True):
    """``following``: ids of the tasks that were created with the completion."""

    task: Task
    following: Sequence[str]
    replayed: bool


class TaskWork(Struct, frozen=True, kw_only=True):
    """``shuffle`` puts a list into random order in place."""

    storage: TaskStorage
    access: TaskAccess
    sessions: SessionAccess
    shuffle: Callable[[list[Any]], None]

    def claim(self, caller: Caller, *, queue: str, lease_seconds: int, most: int = 1) -> list[Task]:
        """Claim up to ``most`` due tasks of a queue, each with a lease of ``lease_seconds``.

        Tasks whose lease has expired are due again; after the last attempt such a task fails instead. The
        ends of a few lapsed tasks are written on the way; ``expiry_watch`` writes the others.

        Raises:
            ForbiddenError: the caller is not a worker.
            InvalidRequestError
        """
        check_permission(caller, Permission.WORKER)
        check_identifier(queue, path="$.queue")
        check_lease(lease_seconds)
        if not 1 <= most <= MAX_CLAIM:
            raise InvalidRequestError(f"Must be 1 to {MAX_CLAIM}", path="$.max")
        return QueueClaim(
            storage=self.storage,
            access=self.access,
            shuffle=self.shuffle,
            caller=caller,
            queue=queue,
            lease_seconds=lease_seconds,
            most=most,
        ).run()

    def heartbeat(self, caller: Caller, task_id: str, *, fence: int, lease_seconds: int) -> Task:
        """Extend the lease to ``lease_seconds`` from now; a longer one is kept.

        Raises:
            FencedError: another worker has claimed the task, or it has ended.
            ForbiddenError, NotFoundError, MisdirectedError, InvalidRequestError
        """
        check_permission(caller, Permission.WORKER)
        check_lease(lease_seconds)

        def judge(task: Task) -> Step[Task]:
            now_ms, author = self.access.clock.now_ms(), author_of(caller)
            held = _check_is_task(task)
            return renewed(held, fence=fence, lease_seconds=lease_seconds, author=author, now_ms=now_ms)

        return self.access.apply_step(caller, task_id, judge).claim

    def fail(
        self, caller: Caller, task_id: str, *, fence: int, error: JsonValue, retry_in: int | None = None
    ) -> Step[Task]:
        """Give the task back, due after ``retry_in`` seconds or a growing backoff; a fifth failure is final.

        The same request again is a replay and succeeds until another worker claims the task.

        Raises:
            FencedError, IdempotencyMismatchError
            ForbiddenError, NotFoundError, MisdirectedError, InvalidRequestError, PayloadTooLargeError
        """
        check_permission(caller, Permission.WORKER)
        if retry_in is not None:
            check_whole(retry_in, least=0, most=LONGEST_DELAY, path="$.retryInSeconds", unit="seconds")
        check(error, path="$.error")
        request = TaskFailure(fence=fence, error=error, retry_in=retry_in)

        def judge(task: Task) -> Step[Task]:
            step = failed(
                _check_is_task(task),
                fence=fence,
                error=error,
                retry_in=retry_in,
                outcome_hash=request.outcome_hash,
                author=author_of(caller),
                now_ms=self.access.clock.now_ms(),
            )
            return _check_fits(step, "$.error", error)

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
        """Complete the task and create the tasks that follow it, in one transaction.

        Those are in the task's session, unless they name another of the caller's. The same request again is
        a replay: it succeeds and creates nothing.

        Raises:
            FencedError: another worker has claimed the task, or it has ended otherwise.
            IdempotencyMismatchError: it was completed with another result.
            ForbiddenError, NotFoundError, MisdirectedError, InvalidRequestError, PayloadTooLargeError,
            SessionNotFoundError
        """
        check_permission(caller, Permission.WORKER)
        check(result, path="$.result")
        check_followers(caller, following, at="$.next")
        request = TaskCompletion(fence=fence, result=result, following=following)
        for _ in range(MAX_CONFLICT_ATTEMPTS):
            task = _check_is_task(self.access.load_at_home(caller, task_id))
            step = completed(
                task,
                fence=fence,
                result=result,
                outcome_hash=request.outcome_hash,
                author=author_of(caller),
                now_ms=self.access.clock.now_ms(),
            )
            step = self.access.with_write_id(_check_fits(step, "$.result", result))
            if step.guard is None or self._write(caller, request, step.claim, step.guard):
                ids = follower_ids(len(following), _origin(step.claim))
                return CompletedTask(task=step.claim, following=ids, replayed=step.replayed)
        raise ThrottledError

    def _write(self, caller: Caller, request: TaskCompletion, task: Task, guard: ClaimGuard) -> bool:
        """Whether the completion was written; False after a conflict, when it is to be judged again."""
        if not request.following:
            return self.storage.put(task, guard) is None
        named = {new.session_id for new in request.following if new.session_id is not None}
        for session_id in sorted(named - {task.session_id}):
            self.sessions.load_at_home(caller, session_id)
        followers = build_followers(
            caller,
            request.following,
            origin=_origin(task),
            session_id=task.session_id,
            region=task.home_region,
            now_ms=guard.now_ms,
            at="$.next",
        )
        token = token_of("task", task.task_id, request.fence, "complete", request.outcome_hash)
        return self.storage.settle(TaskSettlement(task=task, guard=guard, token=token, followers=followers))


def _origin(task: Task) -> Origin:
    return task.task_id, "task", task.fence


def _check_is_task(task: Task) -> Task:
    """The task.

    Raises:
        InvalidRequestError: an approval, which is decided.
    """
    if task.kind is not TaskKind.TASK:
        detail = "Only a task can be completed, failed or extended; an approval is decided"
        raise InvalidRequestError(detail, path="taskId")
    return task


def _check_fits(step: Step[Task], path: str, value: JsonValue) -> Step[Task]:
    """Return the step, if the result or error fits into the item beside the payload.

    Raises:
        PayloadTooLargeError
    """
    if not step.replayed:
        check_inline({path: value}, beside=payload_size(step.claim.payload))
    return step
