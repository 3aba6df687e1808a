"""Tasks created under an idempotency key: once for ever, and answered again."""

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.fingerprints import fingerprint
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.task import Task
from session_store.errors import MisdirectedError, SessionNotFoundError
from session_store.ports import KeyedTaskStorage
from session_store.services.key_claims import check_same, key_claim, living
from session_store.services.tasks.lifecycle import Tasks
from session_store.services.tasks.new_tasks import NewTask, TaskBirth, check_new, task_of


class OnceTask(Struct, frozen=True, kw_only=True):
    """``replayed``: the key had been used before, and nothing was done now."""

    task: Task
    replayed: bool


class KeyedTasks(Struct, frozen=True, kw_only=True):
    storage: KeyedTaskStorage
    tasks: Tasks

    def create(self, caller: Caller, new: NewTask, *, key: str) -> OnceTask:
        """As ``Tasks.create``, once for a key of this region; a replay is the task as it was made.

        So it is also when the task's session has ended.

        Raises:
            IdempotencyMismatchError: the key was used for another task.
            ForbiddenError, InvalidRequestError, PayloadTooLargeError, SessionNotFoundError, MisdirectedError
        """
        check_new(caller, new)
        birth = self.tasks.birth()
        claim = self._claim(caller, new, birth, key)
        try:
            session = self.tasks.session_of(caller, new)
        except (MisdirectedError, SessionNotFoundError):
            held = living(self.storage.read_claim(claim.key_hash), birth.at)
            if held is None:
                raise
            return self._replayed(caller, new, claim, held)
        task = task_of(caller, new, birth)
        held = self.storage.create(task, claim)
        if session is not None:
            self.tasks.sessions.slide_quietly(caller, session)
        if held is not None:
            return self._replayed(caller, new, claim, held)
        return OnceTask(task=task, replayed=False)

    def _claim(self, caller: Caller, new: NewTask, birth: TaskBirth, key: str) -> KeyClaim:
        return key_claim(
            caller,
            route=f"POST /tasks {birth.region}",
            key=key,
            input_hash=fingerprint("task", new.members),
            target=birth.task_id,
            operation_id=self.tasks.ids.operation_id(),
            at=birth.at,
            region=birth.region,
        )

    def _replayed(self, caller: Caller, new: NewTask, claim: KeyClaim, held: KeyClaim) -> OnceTask:
        check_same(held, claim)
        birth = TaskBirth(task_id=held.target, at=held.started_at, region=held.region)
        return OnceTask(task=task_of(caller, new, birth), replayed=True)
