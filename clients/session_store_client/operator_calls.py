"""``/ops`` and ``/health``. Functions as in ``session_calls``."""

from session_store_client.answers import (
    DeadLetters,
    Drained,
    ExpiringSession,
    Health,
    Page,
    QueueName,
    Redriven,
    StatusName,
)
from session_store_client.calls import Call, Repeat, given, parameters, read


def list_expiring(
    *,
    within_seconds: int | None = None,
    status: StatusName | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[ExpiringSession]]:
    """Sessions of every tenant that end soon, soonest first."""
    query = parameters(withinSeconds=within_seconds, status=status, limit=limit, cursor=cursor)
    return read("/ops/expiring", Page[ExpiringSession], query=query)


def drain_sessions(*, within_seconds: int) -> Call[Drained]:
    """Move sessions of every tenant that end soon to closing.

    Not sent again after a lost answer: what the first sending moved would be counted nowhere.
    """
    body = {"withinSeconds": within_seconds}
    return Call(method="POST", path="/ops/drain", answer=Drained, body=body, repeat=Repeat.NEVER)


def list_dead_letters(*, limit: int | None = None) -> Call[DeadLetters]:
    """What the stream and the clean-up could not do; ``limit`` letters of each."""
    return read("/ops/dlq", DeadLetters, query=parameters(limit=limit))


def redrive_dead_letters(*, queue: QueueName | None = None, max_letters: int | None = None) -> Call[Redriven]:
    """Do again what the letters tell of: of both queues unless one is named, ``max_letters`` letters.

    Not sent again after a lost answer, as ``drain_sessions``.
    """
    body = given(queue=queue, max=max_letters)
    return Call(method="POST", path="/ops/dlq/redrive", answer=Redriven, body=body, repeat=Repeat.NEVER)


def get_health() -> Call[Health]:
    """Whether the API answers. It needs no caller."""
    return read("/health", Health)
