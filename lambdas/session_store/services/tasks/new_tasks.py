"""A new task as it is requested, and how it is built: alone, or to follow another task or a tool call."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.caller import NO_SUBJECT, Caller
from session_store.domain.fingerprints import Members, present_members
from session_store.domain.identifiers import check_identifier, check_session_id, follower_id
from session_store.domain.json_values import JsonValue, check
from session_store.domain.session import author_of
from session_store.domain.task import (
    DEFAULT_RETENTION,
    LONGEST_RETENTION_DAYS,
    MAX_NEXT,
    Task,
    TaskKind,
    TaskStatus,
)
from session_store.domain.times import DAY_SECONDS, LATEST_MS, iso
from session_store.domain.whole_numbers import check_whole
from session_store.errors import ForbiddenError, InvalidRequestError
from session_store.services.payloads import OUTCOME_ROOM, check_inline


class NewTask(Struct, frozen=True, kw_only=True):
    """``due_at`` and ``deadline`` in milliseconds; without ``due_at`` the task is due at once.

    ``retain_days``: how long it is kept after it has ended.
    """

    queue: str
    payload: JsonValue
    kind: TaskKind = TaskKind.TASK
    due_at: int | None = None
    deadline: int | None = None
    session_id: str | None = None
    retain_days: int = DEFAULT_RETENTION // DAY_SECONDS

    @property
    def members(self) -> Members:
        """The task as a fingerprint covers it."""
        required = {
            "kind": self.kind,
            "queue": self.queue,
            "payload": self.payload,
            "retainDays": self.retain_days,
        }
        return present_members(
            required,
            {
                "dueAt": (self.due_at, None),
                "deadline": (self.deadline, None),
                "sessionId": (self.session_id, None),
            },
        )


class TaskSeed(Struct, frozen=True, kw_only=True):
    """What the store assigns to a new task. ``at`` in milliseconds."""

    task_id: str
    at: int
    region: str


Origin = tuple[str, *tuple[str | int, ...]]
"""The work that followers are created with: the id of its session or task, then what identifies it there."""


def check_new(caller: Caller, new: NewTask, *, at: str = "$") -> None:
    """Check a new task. ``at``: the path of its body in the request.

    Raises:
        InvalidRequestError, PayloadTooLargeError
        ForbiddenError: an approval without a named requester, who may not be the one who decides it.
    """
    check_identifier(new.queue, path=f"{at}.queue")
    check(new.payload, path=f"{at}.payload")
    check_inline({f"{at}.payload": new.payload}, beside=OUTCOME_ROOM)
    if new.session_id is not None:
        check_session_id(new.session_id, path=f"{at}.sessionId")
    for name, moment in (("dueAt", new.due_at), ("deadline", new.deadline)):
        if moment is not None and (type(moment) is not int or not 0 <= moment <= LATEST_MS):
            raise InvalidRequestError(f"Must lie between 1970 and {iso(LATEST_MS)}", path=f"{at}.{name}")
    if None not in (new.due_at, new.deadline) and (new.deadline or 0) < (new.due_at or 0):
        raise InvalidRequestError("Must not lie before dueAt", path=f"{at}.deadline")
    path = f"{at}.retainDays"
    check_whole(new.retain_days, least=1, most=LONGEST_RETENTION_DAYS, path=path, unit="days")
    if new.kind is TaskKind.APPROVAL and caller.subject == NO_SUBJECT:
        raise ForbiddenError("An approval must be requested by a named subject.")


def check_deadline(new: NewTask, *, now_ms: int, at: str = "$") -> None:
    """Check a deadline without a ``dueAt`` as the task is created: one that has passed would end it at once.

    This is no part of ``check_new``, because a replay may come after the deadline.

    Raises:
        InvalidRequestError
    """
    if new.due_at is None and new.deadline is not None and new.deadline <= now_ms:
        raise InvalidRequestError("Must lie in the future", path=f"{at}.deadline")


def check_followers(caller: Caller, news: Sequence[NewTask], *, at: str) -> None:
    """Check the number of followers, and each as ``check_new`` does."""
    if len(news) > MAX_NEXT:
        raise InvalidRequestError(f"At most {MAX_NEXT} tasks", path=at)
    for position, new in enumerate(news):
        check_new(caller, new, at=f"{at}[{position}]")


def build_task(caller: Caller, new: NewTask, seed: TaskSeed) -> Task:
    """Build the task. The same seed always gives the same task."""
    due_at = seed.at if new.due_at is None else new.due_at
    return Task(
        task_id=seed.task_id,
        tenant=caller.tenant,
        requester=caller.subject,
        kind=new.kind,
        queue=new.queue,
        status=TaskStatus.PENDING,
        payload=new.payload,
        session_id=new.session_id,
        created_at=seed.at,
        due_at=due_at,
        next_at=due_at,
        deadline_ms=new.deadline,
        retain_seconds=new.retain_days * DAY_SECONDS,
        home_region=seed.region,
        author=author_of(caller),
    )


def build_followers(
    caller: Caller,
    news: Sequence[NewTask],
    *,
    origin: Origin,
    session_id: str | None,
    region: str,
    now_ms: int,
    at: str,
) -> tuple[Task, ...]:
    """Build the tasks that are created with other work, in its session unless they name another.

    ``at``: the path of their list in the request.

    Raises:
        InvalidRequestError: a deadline has passed.
    """
    for position, new in enumerate(news):
        check_deadline(new, now_ms=now_ms, at=f"{at}[{position}]")
    ids = follower_ids(len(news), origin)
    return tuple(
        build_task(
            caller,
            replace(new, session_id=new.session_id or session_id),
            TaskSeed(task_id=task_id, at=now_ms, region=region),
        )
        for task_id, new in zip(ids, news, strict=True)
    )


def follower_ids(count: int, origin: Origin) -> list[str]:
    """The ids of followers, which derive from their origin: a repeated request creates the same tasks."""
    return [follower_id(*origin, position) for position in range(count)]
