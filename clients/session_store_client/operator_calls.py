"""``/ops`` and ``/health``. Functions as in ``session_calls``; ``/ops`` needs the operator permission."""

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
    """List sessions of every tenant that expire within ``within_seconds`` (default 900), soonest first.

    ``status`` is ``active`` when not given. ``limit``: sessions a page, 1 to 100 (default 20). Safe to
    repeat.
    """
    query = parameters(withinSeconds=within_seconds, status=status, limit=limit, cursor=cursor)
    return read("/ops/expiring", Page[ExpiringSession], query=query)


def drain_sessions(*, within_seconds: int) -> Call[Drained]:
    """Move sessions of every tenant that expire within ``within_seconds`` to ``closing``.

    Safe to call again, and to be called again while ``more`` is true. Not retried after a lost response,
    since the second answer would not count what the first attempt moved.

    Raises:
        OutcomeUnknownError: sessions may have been moved.
    """
    body = {"withinSeconds": within_seconds}
    return Call(method="POST", path="/ops/drain", answer=Drained, body=body, repeat=Repeat.NEVER)


def list_dead_letters(*, limit: int | None = None) -> Call[DeadLetters]:
    """Read the dead letters of the stream and of the clean-up; they stay in their queues.

    ``limit``: letters of each queue, 1 to 100 (default 20). Safe to repeat.

    Raises:
        NotFoundError: the deployment has no dead-letter queues.
    """
    return read("/ops/dlq", DeadLetters, query=parameters(limit=limit))


def redrive_dead_letters(*, queue: QueueName | None = None, max_letters: int | None = None) -> Call[Redriven]:
    """Process dead letters again and delete those that succeed, of both queues unless one is named.

    ``max_letters`` is 1 to 100 (default 20). Safe to call again: processing is idempotent. Not retried after
    a lost response, since the second answer would not tell what the first attempt did.

    Raises:
        NotFoundError: the deployment has no dead-letter queues.
        OutcomeUnknownError: letters may have been processed.
    """
    body = given(queue=queue, max=max_letters)
    return Call(method="POST", path="/ops/dlq/redrive", answer=Redriven, body=body, repeat=Repeat.NEVER)


def get_health() -> Call[Health]:
    """Check that the API answers; needs no caller. Safe to repeat."""
    return read("/health", Health)
