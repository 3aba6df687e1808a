"""Tasks as tests need them: valid, and different only in what a test names."""

import secrets
from typing import Any, Final

from msgspec.structs import replace

from session_store.domain.caller import Permission
from session_store.domain.claim import Step
from session_store.domain.identifiers import mint_task_id
from session_store.domain.task import Task, TaskKind, TaskStatus
from session_store.domain.task_steps import completed, taken
from session_store.ports import Storage
from tests.support.samples import ALICE, AUTHOR, NOW_MS, REGION

WORKER: Final = replace(ALICE, subject="worker-1", permissions=frozenset({Permission.WORKER}))
APPROVER: Final = replace(ALICE, subject="boss", permissions=frozenset({Permission.APPROVER}))


def new_task_id(region: str = REGION) -> str:
    return mint_task_id(region=region, random_bytes=secrets.token_bytes)


def a_task(**changes: Any) -> Task:
    """Of Alice's, created now, due at once."""
    task = Task(
        task_id=new_task_id(),
        kind=TaskKind.TASK,
        tenant=ALICE.tenant,
        requester=ALICE.subject,
        queue="mail",
        status=TaskStatus.PENDING,
        payload={"to": "bob"},
        created_at=NOW_MS,
        due_at=NOW_MS,
        next_at=NOW_MS,
        home_region=REGION,
        author=AUTHOR,
    )
    return replace(task, **changes)


def an_approval(**changes: Any) -> Task:
    return a_task(**{"kind": TaskKind.APPROVAL, **changes})


def kept_task(storage: Storage, task: Task | None = None, **changes: Any) -> Task:
    """``a_task``, or the one that is given, that the storage has."""
    made = replace(task or a_task(), **changes)
    storage.tasks.create(made)
    return made


def new_tenant() -> str:
    """One whom no other test knows."""
    return f"111122223333:user/{secrets.token_hex(8)}"


def took(task: Task, *, at: int = NOW_MS, worker: str = "w", lease: int = 60) -> Step[Task]:
    step = taken(task, worker=worker, lease_seconds=lease, author=AUTHOR, now_ms=at)
    assert step is not None
    return step


def stepped_on(storage: Storage, step: Step[Task]) -> Task:
    assert step.guard is not None
    assert storage.tasks.put(step.claim, step.guard) is None
    return step.claim


def done(task: Task, *, at: int = NOW_MS, result: Any = "done") -> Step[Task]:
    return completed(task, fence=task.fence, result=result, outcome_hash="h", author=AUTHOR, now_ms=at)
