"""``/sessions/{sessionId}/checkpoints``"""

from typing import Final

from session_api import problems
from session_api.checkpoint_answers import CheckpointAnswer, CheckpointPage, checkpoint_answer
from session_api.checkpoint_bodies import AddCheckpoint
from session_api.cursors import encode_cursor
from session_api.lists import ORDER, PAGED, order_of, page_request
from session_api.operations import Parameter, Reply, operation
from session_api.requests import REPLAYED, Request
from session_store.domain.identifiers import MAX_IDENTIFIER
from session_store.domain.page import CheckpointPosition
from session_store.metric_names import Metric

CHECKPOINTS: Final = "/sessions/{sessionId}/checkpoints"
NAMESPACE: Final = Parameter(
    name="namespace",
    schema={"type": "string", "maxLength": MAX_IDENTIFIER, "default": ""},
    description="Of the checkpoints; the empty one is one like any other.",
)
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
        problems.TOO_LARGE,
        problems.MISDIRECTED,
        problems.OUTCOME_UNKNOWN,
    ),
    keyed=True,
    counts=Metric.CHECKPOINTS_ADDED,
)
def add_checkpoint(request: Request) -> Reply:
    """Store a checkpoint, once for ever: 200 where its id was there already with the same content.

    `parentId` is a checkpoint of the same namespace. With an `Idempotency-Key` the same body again is
    answered as it was the first time.
    """
    caller, session_id, new = request.caller, request.session_id, request.body.to_domain()
    if request.key is None:
        added = request.store.checkpoints.add(caller, session_id, new)
    else:
        added = request.store.keyed_checkpoints.add(caller, session_id, new, key=request.key)
    return Reply(
        value=checkpoint_answer(added.checkpoint),
        status=201 if added.by_key or not added.replayed else 200,
        headers={REPLAYED: "true"} if added.by_key else {},
        done=int(not added.replayed),
        replayed=int(added.replayed),
    )


@operation(
    "GET",
    CHECKPOINTS,
    answer=CheckpointPage,
    query=(
        NAMESPACE,
        ORDER,
        *PAGED,
    ),
    refusals=READ_PROBLEMS,
)
def list_checkpoints(request: Request) -> Reply:
    """List the checkpoints of one namespace in the order of their ids."""
    order = order_of(request)
    namespace = namespace_of(request)
    query = {
        "list": "checkpoints",
        "session": request.session_id,
        "namespace": namespace,
        "order": order,
    }
    page = request.store.checkpoints.page(
        request.caller,
        request.session_id,
        page_request(request, CheckpointPosition, query=query, descending=order == "desc"),
        namespace=namespace,
        min_version=request.min_version,
    )
    items = [checkpoint_answer(checkpoint) for checkpoint in page.items]
    return Reply(value=CheckpointPage(items=items, next_cursor=encode_cursor(page.next, query=query)))


# Declared before the route of one checkpoint: the first that fits is taken, and no id is spelled so.
@operation(
    "GET",
    f"{CHECKPOINTS}/latest",
    answer=CheckpointAnswer,
    query=(NAMESPACE,),
    refusals=(*READ_PROBLEMS, problems.NOT_FOUND),
)
def get_latest_checkpoint(request: Request) -> Reply:
    """Read the newest checkpoint of a namespace."""
    checkpoint = request.store.checkpoints.latest(
        request.caller, request.session_id, namespace=namespace_of(request), min_version=request.min_version
    )
    return Reply(value=checkpoint_answer(checkpoint))


@operation(
    "GET",
    f"{CHECKPOINTS}/{{checkpointId}}",
    answer=CheckpointAnswer,
    query=(NAMESPACE,),
    refusals=(*READ_PROBLEMS, problems.NOT_FOUND),
)
def get_checkpoint(request: Request) -> Reply:
    """Read one checkpoint of a namespace."""
    checkpoint = request.store.checkpoints.get(
        request.caller,
        request.session_id,
        request.path["checkpointId"],
        namespace=namespace_of(request),
        min_version=request.min_version,
    )
    return Reply(value=checkpoint_answer(checkpoint))


def namespace_of(request: Request) -> str:
    return request.query.text("namespace") or ""
