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
    """Store a checkpoint, once for ever. ``parent_id`` is one of the same namespace.

    One that has no id is given one here, so that sending it again does not store it again. Who wants to send
    it again after this process has ended keeps a ``checkpoint_id`` (UUIDv7). With ``retain_seconds``, from
    900 on, it ends before its session may.
    """
    body = {
        "data": data,
        "namespace": namespace,
        "checkpointId": _IDS.mint() if checkpoint_id is None else checkpoint_id,
        **given(parentId=parent_id, retainSeconds=retain_seconds),
    }
    return Call(
        method="POST",
        path=f"{session_path(session_id)}/checkpoints",
        answer=Checkpoint,
        body=body,
        repeat=Repeat.ADDED,
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
    """The checkpoints of one namespace in the order of their ids."""
    query = parameters(namespace=namespace, order=order, limit=limit, cursor=cursor)
    return read(
        f"{session_path(session_id)}/checkpoints", Page[Checkpoint], query=query, min_version=min_version
    )


def get_latest_checkpoint(
    session_id: str, *, namespace: str = "", min_version: int | None = None
) -> Call[Checkpoint]:
    """The newest checkpoint of a namespace."""
    query = parameters(namespace=namespace)
    return read(latest_checkpoint_path(session_id), Checkpoint, query=query, min_version=min_version)


def get_checkpoint(
    session_id: str, checkpoint_id: str, *, namespace: str = "", min_version: int | None = None
) -> Call[Checkpoint]:
    """One checkpoint of a namespace."""
    query = parameters(namespace=namespace)
    return read(checkpoint_path(session_id, checkpoint_id), Checkpoint, query=query, min_version=min_version)
