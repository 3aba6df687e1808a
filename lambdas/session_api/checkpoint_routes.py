"""Checkpoints: immutable snapshots that a run can resume from, in namespaces of a session."""

from typing import Final

from session_api import problems
from session_api.checkpoint_answers import CheckpointAnswer, CheckpointPage, checkpoint_answer
from session_api.checkpoint_bodies import AddCheckpoint
from session_api.cursors import encode_cursor
from session_api.lists import (
    NAMESPACE,
    ORDER,
    PAGING,
    requested_namespace,
    requested_order,
    requested_page,
)
from session_api.operations import Reply, operation, replay_header
from session_api.paths import CHECKPOINT, CHECKPOINTS, LATEST_CHECKPOINT
from session_api.requests import Request
from session_store.domain.page import CheckpointPosition
from session_store.metric_names import Metric

READ_PROBLEMS: Final = (problems.SESSION_NOT_FOUND, problems.MISDIRECTED, problems.PAYLOAD_MISSING)


@operation(
    "POST",
    CHECKPOINTS,
    body=AddCheckpoint,
    answer=CheckpointAnswer,
    statuses=(201, 200),
    refusals=(
        problems.SESSION_NOT_FOUND,
        problems.SESSION_CLOSED,
        problems.CONTENT_CONFLICT,
        problems.MISDIRECTED,
        problems.OUTCOME_UNKNOWN,
    ),
    keyed=True,
    counts=Metric.CHECKPOINTS_ADDED,
)
def add_checkpoint(request: Request[AddCheckpoint]) -> Reply:
    """Store a checkpoint, once for its id.

    A checkpoint whose id and content are already stored is a replay and a success (200), whatever the
    session's status; an id that is stored with other content is refused (409 with `checkpointId`). A
    `parentId` must name a checkpoint of the same namespace. A checkpoint is readable only once all of its
    data is stored.

    To make a retry safe, choose the id or send an `Idempotency-Key`: under a key the same body is answered as
    the first time (201).
    """
    caller, session_id, new = request.caller, request.session_id, request.body.to_domain()
    if request.key is None:
        added = request.store.checkpoints.add(caller, session_id, new)
    else:
        added = request.store.keyed_checkpoints.add(caller, session_id, new, key=request.key)
    return Reply(
        value=checkpoint_answer(added.checkpoint),
        status=201 if added.by_key or not added.replayed else 200,
        headers=replay_header(replayed=added.by_key),
        performed=int(not added.replayed),
        replayed=int(added.replayed),
    )


@operation(
    "GET",
    CHECKPOINTS,
    answer=CheckpointPage,
    query=(NAMESPACE, ORDER, *PAGING),
    refusals=READ_PROBLEMS,
)
def list_checkpoints(request: Request[None]) -> Reply:
    """List the checkpoints of one namespace in the order of their ids, which is the order of time."""
    order = requested_order(request)
    namespace = requested_namespace(request)
    query = {
        "list": "checkpoints",
        "session": request.session_id,
        "namespace": namespace,
        "order": order,
    }
    page = request.store.checkpoints.page(
        request.caller,
        request.session_id,
        requested_page(request, CheckpointPosition, query=query, descending=order == "desc"),
        namespace=namespace,
        min_version=request.min_version,
    )
    items = [checkpoint_answer(checkpoint) for checkpoint in page.items]
    return Reply(value=CheckpointPage(items=items, next_cursor=encode_cursor(page.next, query=query)))


# Declared before the route of one checkpoint: the first that matches is taken, and "latest" is no valid id.
@operation(
    "GET",
    LATEST_CHECKPOINT,
    answer=CheckpointAnswer,
    query=(NAMESPACE,),
    refusals=(*READ_PROBLEMS, problems.NOT_FOUND),
)
def get_latest_checkpoint(request: Request[None]) -> Reply:
    """Read the newest checkpoint of a namespace.

    The newest has the greatest id. 404 `not-found` means that the namespace has no checkpoint that has not
    expired.
    """
    checkpoint = request.store.checkpoints.latest(
        request.caller,
        request.session_id,
        namespace=requested_namespace(request),
        min_version=request.min_version,
    )
    return Reply(value=checkpoint_answer(checkpoint))


@operation(
    "GET",
    CHECKPOINT,
    answer=CheckpointAnswer,
    query=(NAMESPACE,),
    refusals=(*READ_PROBLEMS, problems.NOT_FOUND),
)
def get_checkpoint(request: Request[None]) -> Reply:
    """Read one checkpoint of a namespace."""
    checkpoint = request.store.checkpoints.get(
        request.caller,
        request.session_id,
        request.path["checkpointId"],
        namespace=requested_namespace(request),
        min_version=request.min_version,
    )
    return Reply(value=checkpoint_answer(checkpoint))
