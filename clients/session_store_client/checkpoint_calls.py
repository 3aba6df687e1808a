"""Checkpoints of a session. Functions as in ``session_calls``."""

from typing import Any, Final, Literal

from session_store_client.answers import Checkpoint, Page
from session_store_client.calls import (
    Call,
    Repeat,
    checkpoint_path,
    given,
    latest_checkpoint_path,
    parameters,
    read,
    session_path,
)
from session_store_client.message_ids import MessageIds

_IDS: Final = MessageIds()


def add_checkpoint(
    session_id: str,
    data: Any,  # noqa: ANN401 - any JSON value
    *,
    namespace: str = "",
    checkpoint_id: str | None = None,
    parent_id: str | None = None,
    retain_seconds: int | None = None,
) -> Call[Checkpoint]:
    """Store a checkpoint, once.

    ``checkpoint_id``: a UUIDv7, its time within five minutes of the store's clock and later than
    ``parent_id``; minted here when not given. ``parent_id``: a checkpoint of the same namespace.
    ``retain_seconds``: seconds after which it expires, at least 900; without it, it lives as long as its
    session.

    Retried with the same id, so a lost response adds nothing twice. A second call with an id of your own is
    safe to repeat too, also from another process; without one it adds another checkpoint.

    Raises:
        SessionNotFoundError: there is none, it has expired, or it belongs to another caller.
        InvalidRequestError: the namespace has no checkpoint ``parent_id``.
        SessionClosedError: the session is closing or closed.
        ContentConflictError: the id is taken by other content.
        PayloadTooLargeError: ``data`` exceeds the limit.
        OutcomeUnknownError: it may have been stored; for instance the session was closed after a lost
            response.
    """
    body = {
        "data": data,
        "namespace": namespace,
        "checkpointId": _IDS.mint(after=parent_id) if checkpoint_id is None else checkpoint_id,
        **given(parentId=parent_id, retainSeconds=retain_seconds),
    }
    return Call(
        method="POST",
        path=f"{session_path(session_id)}/checkpoints",
        answer=Checkpoint,
        body=body,
        repeat=Repeat.RECOGNISED_APPEND,
    )


def list_checkpoints(
    session_id: str,
    *,
    namespace: str = "",
    order: Literal["asc", "desc"] = "asc",
    min_version: int | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Call[Page[Checkpoint]]:
    """List the checkpoints of a namespace in the order of their ids, which is the order of their times.

    ``limit``: checkpoints a page, 1 to 100 (default 20). Safe to repeat.

    Raises:
        SessionNotFoundError: as in ``add_checkpoint``.
    """
    query = parameters(namespace=namespace, order=order, limit=limit, cursor=cursor)
    return read(
        f"{session_path(session_id)}/checkpoints", Page[Checkpoint], query=query, min_version=min_version
    )


def get_latest_checkpoint(
    session_id: str, *, namespace: str = "", min_version: int | None = None
) -> Call[Checkpoint]:
    """Read the newest checkpoint of a namespace. Safe to repeat.

    Raises:
        SessionNotFoundError: as in ``add_checkpoint``.
        NotFoundError: the namespace has no checkpoint.
    """
    query = parameters(namespace=namespace)
    return read(latest_checkpoint_path(session_id), Checkpoint, query=query, min_version=min_version)


def get_checkpoint(
    session_id: str, checkpoint_id: str, *, namespace: str = "", min_version: int | None = None
) -> Call[Checkpoint]:
    """Read one checkpoint of a namespace. Safe to repeat.

    Raises:
        SessionNotFoundError: as in ``add_checkpoint``.
        NotFoundError: the namespace has no such checkpoint, or it has expired.
    """
    query = parameters(namespace=namespace)
    return read(checkpoint_path(session_id, checkpoint_id), Checkpoint, query=query, min_version=min_version)
