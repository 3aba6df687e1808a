"""Tasks created under an idempotency key."""

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.fingerprints import fingerprint
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.task import Task
from session_store.errors import InvalidRequestError, MisdirectedError, SessionNotFoundError
from session_store.ports import KeyedTaskStorage
from session_store.services.key_claims import build_key_claim, check_same_request, unexpired
from session_store.services.tasks.lifecycle import Tasks
from session_store.services.tasks.new_tasks import (
    NewTask,
    TaskSeed,
    build_task,
    check_deadline,
    check_new,
)


class KeyedTaskResult(Struct, frozen=True, kw_only=True):
    """``replayed``: the key was used before, and nothing was written."""

    task: Task
    replayed: bool


class KeyedTasks(Struct, frozen=True, kw_only=True):
    storage: KeyedTaskStorage
    tasks: Tasks

    def create(self, caller: Caller, new: NewTask, *, key: str) -> KeyedTaskResult:
        """``Tasks.create``, once per key. The key is scoped to this region.

        A replay returns the task as it was created, whether or not its session has ended since, or its
        deadline has passed.

        Raises:
            IdempotencyMismatchError: the key was used for another task.
            ForbiddenError, InvalidRequestError, PayloadTooLargeError, SessionNotFoundError, MisdirectedError
        """
        check_new(caller, new)
        seed = self.tasks.new_seed()
        claim = self._claim(caller, new, seed, key)
        try:
            session = self.tasks.session_of(caller, new)
            check_deadline(new, now_ms=seed.at)
        except (InvalidRequestError, MisdirectedError, SessionNotFoundError):
            held = unexpired(self.storage.read_claim(claim.key_hash), seed.at)
            if held is None:
                raise
            return self._replayed(caller, new, claim, held)
        task = build_task(caller, new, seed)
        held = self.storage.create(task, claim)
        if session is not None:
            self.tasks.sessions.slide_quietly(caller, session)
        if held is not None:
            return self._replayed(caller, new, claim, held)
        return KeyedTaskResult(task=task, replayed=False)

    def _claim(self, caller: Caller, new: NewTask, seed: TaskSeed, key: str) -> KeyClaim:
        return build_key_claim(
            caller,
            route=f"POST /tasks {seed.region}",
            key=key,
            input_hash=fingerprint("task", new.members),
            target=seed.task_id,
            operation_id=self.tasks.ids.operation_id(),
            at=seed.at,
            region=seed.region,
        )

    def _replayed(self, caller: Caller, new: NewTask, claim: KeyClaim, held: KeyClaim) -> KeyedTaskResult:
        check_same_request(held, claim)
        seed = TaskSeed(task_id=held.target, at=held.started_at, region=held.region)
        return KeyedTaskResult(task=build_task(caller, new, seed), replayed=True)
