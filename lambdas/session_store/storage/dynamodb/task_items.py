"""Tasks as items of the table, and back.

The key attributes of an index are present exactly as long as the task belongs in that index.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Final

from session_store.domain.claim import ClaimGuard
from session_store.domain.homes import fnv1a_32
from session_store.domain.json_values import JsonValue
from session_store.domain.task import Task, TaskKind, TaskStatus, claimable_from, lapses_at
from session_store.domain.task_writes import TaskFilter
from session_store.domain.times import from_iso, iso
from session_store.schema import TASK_PK_PREFIX, TASK_SK, Attribute, Due, Entity, task_pk
from session_store.storage.dynamodb.codec import Item, from_item, to_item
from session_store.storage.dynamodb.expressions import Terms, conditional_put, is_absent, matches_guard
from session_store.storage.dynamodb.ownership import author_attribute, author_from
from session_store.storage.dynamodb.payload_attributes import NULL, payload_attribute, payload_from

A: Final = Attribute


class Lane(StrEnum):
    """A part of the queue index: open work, open approvals, or the tasks of one final status."""

    OPEN = "open"
    """Pending and held tasks: a claim looks at both, since a lease may have expired."""

    UNDECIDED = "undecided"
    """Open approvals."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"


def lane_of(task: Task) -> Lane:
    if task.is_settled:
        return Lane(task.status)
    return Lane.OPEN if task.kind is TaskKind.TASK else Lane.UNDECIDED


def lanes_of(wanted: TaskFilter) -> Sequence[Lane]:
    """The lanes of the wanted tasks, in the order in which a list shows them."""
    if wanted.status is not None and not wanted.of_open_ones:
        return [Lane(wanted.status)]
    if wanted.kind is TaskKind.TASK or wanted.status is TaskStatus.CLAIMED:
        return [Lane.OPEN]
    return [Lane.UNDECIDED] if wanted.kind is TaskKind.APPROVAL else [Lane.OPEN, Lane.UNDECIDED]


def task_shard(task_id: str, shards: int) -> int:
    return fnv1a_32(task_id) % shards


def task_key(task_id: str) -> Item:
    return to_item({A.PK: task_pk(task_id), A.SK: TASK_SK})


def task_id_of(stored: Any) -> str:  # noqa: ANN401 - an item, whole or as an index has it
    return str(stored[A.PK]).removeprefix(TASK_PK_PREFIX)


def task_item(task: Task, *, shards: int) -> Item:
    return to_item(
        {
            A.PK: task_pk(task.task_id),
            A.SK: TASK_SK,
            A.ENTITY: Entity.TASK,
            A.TENANT: task.tenant,
            A.REQUESTER: task.requester,
            A.KIND: task.kind,
            A.QUEUE: task.queue,
            A.LANE: lane_of(task),
            A.SHARD: task_shard(task.task_id, shards),
            A.CLAIM_STATUS: task.status,
            A.PAYLOAD: payload_attribute(task.payload),
            A.RESULT: payload_attribute(task.result),
            A.ERROR: payload_attribute(task.error),
            A.OUTCOME_HASH: task.outcome_hash,
            A.ATTEMPTS: task.attempts,
            A.FENCE: task.fence,
            A.LEASE_UNTIL_MS: task.lease_until_ms,
            A.CREATED_AT: iso(task.created_at),
            A.DUE_AT: iso(task.due_at),
            A.CLAIMABLE_FROM: iso(claimable_from(task)),
            A.RETAIN_SECONDS: task.retain_seconds,
            A.LAST_WRITE: task.last_write,
            A.HOME_REGION: task.home_region,
            A.WRITE_REGION: task.home_region,
            A.UPDATED_BY: author_attribute(task.author),
            **_sparse(task),
        }
    )


def _sparse(task: Task) -> dict[str, JsonValue]:
    lapses = lapses_at(task)
    attributes: dict[str, JsonValue] = {
        A.WORKER: task.worker,
        A.SESSION_ID: task.session_id,
        A.OPEN_IN: None if task.is_settled else task.session_id,
        A.DEADLINE: None if task.deadline_ms is None else iso(task.deadline_ms),
        A.DECIDED_BY: task.decided_by,
        A.COMMENT: task.comment,
        A.ENDED_AT: None if task.ended_at is None else iso(task.ended_at),
        A.DUE: None if lapses is None else Due.TASK_END,
        A.DUE_FROM: None if lapses is None else iso(lapses),
        A.TTL: task.ttl,
    }
    return {name: value for name, value in attributes.items() if value is not None}


WITHOUT_PAYLOADS: Final = (
    A.PK,
    A.SK,
    A.TENANT,
    A.REQUESTER,
    A.KIND,
    A.QUEUE,
    A.CLAIM_STATUS,
    A.OUTCOME_HASH,
    A.WORKER,
    A.ATTEMPTS,
    A.FENCE,
    A.LEASE_UNTIL_MS,
    A.SESSION_ID,
    A.CREATED_AT,
    A.DUE_AT,
    A.CLAIMABLE_FROM,
    A.DEADLINE,
    A.ENDED_AT,
    A.DECIDED_BY,
    A.RETAIN_SECONDS,
    A.LAST_WRITE,
    A.TTL,
    A.HOME_REGION,
    A.UPDATED_BY,
)
"""The attributes that ``task_from`` reads, except payloads; a test compares them with ``task_item``."""


def task_from(item: Item) -> Task:
    stored = from_item(item)
    status = TaskStatus(stored[A.CLAIM_STATUS])
    held_until = stored[A.LEASE_UNTIL_MS]
    return Task(
        task_id=task_id_of(stored),
        tenant=stored[A.TENANT],
        requester=stored[A.REQUESTER],
        kind=TaskKind(stored[A.KIND]),
        queue=stored[A.QUEUE],
        status=status,
        payload=payload_from(stored.get(A.PAYLOAD, NULL)),
        result=payload_from(stored.get(A.RESULT, NULL)),
        error=payload_from(stored.get(A.ERROR, NULL)),
        outcome_hash=stored[A.OUTCOME_HASH],
        worker=stored.get(A.WORKER),
        attempts=stored[A.ATTEMPTS],
        fence=stored[A.FENCE],
        lease_until_ms=held_until,
        session_id=stored.get(A.SESSION_ID),
        created_at=from_iso(stored[A.CREATED_AT]),
        due_at=from_iso(stored[A.DUE_AT]),
        next_at=held_until if status is TaskStatus.CLAIMED else from_iso(stored[A.CLAIMABLE_FROM]),
        deadline_ms=_moment(stored.get(A.DEADLINE)),
        ended_at=_moment(stored.get(A.ENDED_AT)),
        decided_by=stored.get(A.DECIDED_BY),
        comment=stored.get(A.COMMENT),
        retain_seconds=stored[A.RETAIN_SECONDS],
        last_write=stored[A.LAST_WRITE],
        ttl=stored.get(A.TTL),
        home_region=stored[A.HOME_REGION],
        author=author_from(stored),
    )


def _moment(text: str | None) -> int | None:
    return None if text is None else from_iso(text)


def new_task_put(task: Task, *, table: str, shards: int) -> dict[str, Any]:
    """A new task as a put of a transaction."""
    terms = Terms()
    item = task_item(task, shards=shards)
    return conditional_put(item, table=table, terms=terms, condition=is_absent(terms))


def task_put(task: Task, guard: ClaimGuard, *, table: str, shards: int) -> dict[str, Any]:
    """A changed task as a put of a transaction, under the guard of its step."""
    terms = Terms()
    item = task_item(task, shards=shards)
    return conditional_put(item, table=table, terms=terms, condition=matches_guard(terms, guard))
