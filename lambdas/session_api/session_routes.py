"""``/sessions``"""

from typing import Final

from session_api import problems
from session_api.answers import SessionAnswer, SessionPage, session_answer, summary_answer
from session_api.bodies import ChangeState, CreateSession, MoveSession
from session_api.cursors import encode_cursor
from session_api.lists import PAGED, page_request
from session_api.operations import Parameter, Reply, operation
from session_api.requests import REPLAYED, Request
from session_store.domain.page import OwnedPosition
from session_store.domain.session import Session, Status
from session_store.metric_names import Metric

STATUSES: Final = [status.value for status in Status]
SESSION: Final = "/sessions/{sessionId}"
STATE: Final = f"{SESSION}/state"
READ_PROBLEMS: Final = (problems.SESSION_NOT_FOUND, problems.MISDIRECTED)
WRITE_PROBLEMS: Final = (
    problems.SESSION_NOT_FOUND,
    problems.VERSION_CONFLICT,
    problems.MISDIRECTED,
    problems.OUTCOME_UNKNOWN,
)
STATE_PROBLEMS: Final = (*WRITE_PROBLEMS, problems.SESSION_CLOSED, problems.TOO_LARGE)


def etag_of(session: Session) -> dict[str, str]:
    return {"ETag": f'"{session.version}"'}


def session_reply(
    session: Session, *, status: int = 200, headers: dict[str, str] | None = None, replayed: bool = False
) -> Reply:
    """``replayed``: under an Idempotency-Key that has done its work before."""
    told = {REPLAYED: "true"} if replayed else {}
    return Reply(
        value=session_answer(session),
        status=status,
        headers={**etag_of(session), **(headers or {}), **told},
        done=int(not replayed),
        replayed=int(replayed),
    )


@operation(
    "POST",
    "/sessions",
    body=CreateSession,
    answer=SessionAnswer,
    statuses=(201,),
    refusals=(problems.TOO_LARGE, problems.OUTCOME_UNKNOWN),
    counts=Metric.SESSIONS_CREATED,
    keyed=True,
)
def create_session(request: Request) -> Reply:
    """Create a session; its id is minted here.

    With an `Idempotency-Key` the same body again is answered with the session as it was made,
    whatever has become of it. A key is of the region that it is sent to.
    """
    new = request.body.to_domain()
    if request.key is None:
        return _created(request.store.sessions.create(request.caller, new))
    once = request.store.keyed_sessions.create(request.caller, new, key=request.key)
    return _created(once.session, replayed=once.replayed)


def _created(session: Session, *, replayed: bool = False) -> Reply:
    # Relative to the request, so that it holds under any stage (RFC 9110, 10.2.2).
    location = {"Location": f"sessions/{session.session_id}"}
    return session_reply(session, status=201, headers=location, replayed=replayed)


@operation(
    "GET",
    "/sessions",
    answer=SessionPage,
    query=(
        Parameter(
            name="status",
            schema={"type": "string", "enum": STATUSES},
            description="Only sessions of this status.",
        ),
        *PAGED,
    ),
)
def list_sessions(request: Request) -> Reply:
    """List the caller's sessions, newest first."""
    wanted = request.query.choice("status", STATUSES)
    query = {"list": "sessions", "status": wanted}
    page = request.store.sessions.list_owned(
        request.caller,
        status=Status(wanted) if wanted else None,
        page=page_request(request, OwnedPosition, query=query, descending=True),
    )
    items = [summary_answer(session) for session in page.items]
    return Reply(value=SessionPage(items=items, next_cursor=encode_cursor(page.next, query=query)))


@operation("GET", SESSION, answer=SessionAnswer, refusals=READ_PROBLEMS)
def get_session(request: Request) -> Reply:
    """Read a session."""
    session = request.store.sessions.get(request.caller, request.session_id, min_version=request.min_version)
    return session_reply(session)


@operation(
    "PUT",
    STATE,
    body=dict,
    answer=SessionAnswer,
    refusals=(*STATE_PROBLEMS, problems.PRECONDITION_REQUIRED),
    conditional=True,
)
def replace_state(request: Request) -> Reply:
    """Replace the whole state of a session at a version."""
    return session_reply(
        request.store.sessions.replace_state(
            request.caller, request.session_id, request.body, version=request.version(required=True)
        )
    )


@operation(
    "PATCH",
    STATE,
    body=ChangeState,
    answer=SessionAnswer,
    refusals=STATE_PROBLEMS,
    conditional=True,
    keyed=True,
)
def change_state(request: Request) -> Reply:
    """Set, remove, increment and append keys of the state in one atomic update.

    With an `Idempotency-Key` the same body (and `If-Match`) again changes nothing and is answered
    with the session as it is by then; where that is gone, 404 says nothing of what was done before.
    """
    caller, session_id, operations = request.caller, request.session_id, request.body.to_domain()
    version = request.version()
    if request.key is None:
        return session_reply(
            request.store.sessions.change_state(caller, session_id, operations, version=version)
        )
    once = request.store.keyed_sessions.change_state(
        caller, session_id, operations, key=request.key, version=version
    )
    return session_reply(once.session, replayed=once.replayed)


@operation(
    "POST",
    f"{SESSION}/status",
    body=MoveSession,
    answer=SessionAnswer,
    refusals=(*WRITE_PROBLEMS, problems.INVALID_TRANSITION),
    conditional=True,
)
def move_session(request: Request) -> Reply:
    """Move a session to a status.

    Being there already is success, whatever `If-Match` says.
    """
    return session_reply(
        request.store.sessions.move(
            request.caller, request.session_id, Status(request.body.to), version=request.version()
        )
    )


@operation(
    "POST",
    f"{SESSION}/touch",
    answer=SessionAnswer,
    refusals=(*WRITE_PROBLEMS, problems.SESSION_CLOSED),
    conditional=True,
)
def touch_session(request: Request) -> Reply:
    """Keep a session alive."""
    return session_reply(
        request.store.sessions.touch(request.caller, request.session_id, version=request.version())
    )


@operation(
    "DELETE",
    SESSION,
    statuses=(204,),
    refusals=WRITE_PROBLEMS,
    conditional=True,
    counts=Metric.SESSIONS_DELETED,
)
def delete_session(request: Request) -> Reply:
    """Delete a session: gone at once, and its children with it."""
    request.store.sessions.delete(request.caller, request.session_id, version=request.version())
    return Reply(value=None, status=204)
