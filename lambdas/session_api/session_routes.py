"""Sessions: create, read, change, end."""

from typing import Any, Final

from session_api import problems
from session_api.cursors import encode_cursor
from session_api.lists import PAGING, SESSION_STATUSES, requested_page
from session_api.operations import Parameter, Reply, operation, replay_header
from session_api.paths import SESSION, SESSIONS, STATE, STATUS, TOUCH
from session_api.requests import Request
from session_api.session_answers import (
    SessionAnswer,
    SessionPage,
    etag_header,
    session_answer,
    summary_answer,
)
from session_api.session_bodies import ChangeState, CreateSession, MoveSession
from session_store.domain.page import OwnedPosition
from session_store.domain.session import Session, Status
from session_store.metric_names import Metric

READ_PROBLEMS: Final = (problems.SESSION_NOT_FOUND, problems.MISDIRECTED)
WRITE_PROBLEMS: Final = (
    problems.SESSION_NOT_FOUND,
    problems.VERSION_CONFLICT,
    problems.MISDIRECTED,
    problems.OUTCOME_UNKNOWN,
)
STATE_PROBLEMS: Final = (*WRITE_PROBLEMS, problems.SESSION_CLOSED)


@operation(
    "POST",
    SESSIONS,
    body=CreateSession,
    answer=SessionAnswer,
    statuses=(201,),
    refusals=(problems.OUTCOME_UNKNOWN,),
    counts=Metric.SESSIONS_CREATED,
    keyed=True,
)
def create_session(request: Request[CreateSession]) -> Reply:
    """Create a session in status `initializing`.

    The store mints its id, in the region that the request is sent to, which alone writes the session from
    then on.

    Every call creates another session, unless it carries an `Idempotency-Key`: the same body under the same
    key is answered with the session as it was created, whatever has become of it since, and another body is
    refused (422). Each region has its own keys.
    """
    new = request.body.to_domain()
    if request.key is None:
        return _created_reply(request.store.sessions.create(request.caller, new))
    once = request.store.keyed_sessions.create(request.caller, new, key=request.key)
    return _created_reply(once.session, replayed=once.replayed)


def _created_reply(session: Session, *, replayed: bool = False) -> Reply:
    # Relative to the request, so that it holds under any stage (RFC 9110, 10.2.2).
    location = {"Location": f"sessions/{session.session_id}"}
    return _session_reply(session, status=201, headers=location, replayed=replayed)


def _session_reply(
    session: Session, *, status: int = 200, headers: dict[str, str] | None = None, replayed: bool = False
) -> Reply:
    """``replayed``: an earlier request under the same Idempotency-Key did the work."""
    return Reply(
        value=session_answer(session),
        status=status,
        headers={**etag_header(session), **(headers or {}), **replay_header(replayed=replayed)},
        performed=int(not replayed),
        replayed=int(replayed),
    )


@operation(
    "GET",
    SESSIONS,
    answer=SessionPage,
    query=(
        Parameter(
            name="status",
            schema={"type": "string", "enum": SESSION_STATUSES},
            description="Only sessions in this status.",
        ),
        *PAGING,
    ),
)
def list_sessions(request: Request[None]) -> Reply:
    """List the caller's sessions, newest first.

    Items have no state. An index serves the list, so what has just changed may be missing for a moment; a
    read by id is consistent.
    """
    wanted = request.query.choice("status", SESSION_STATUSES)
    query = {"list": "sessions", "status": wanted}
    page = request.store.sessions.list_owned(
        request.caller,
        status=Status(wanted) if wanted else None,
        page=requested_page(request, OwnedPosition, query=query, descending=True),
    )
    items = [summary_answer(session) for session in page.items]
    return Reply(value=SessionPage(items=items, next_cursor=encode_cursor(page.next, query=query)))


@operation("GET", SESSION, answer=SessionAnswer, refusals=READ_PROBLEMS)
def get_session(request: Request[None]) -> Reply:
    """Read a session.

    The read is consistent within its region and, like every successful call on a session, moves its expiry.
    """
    session = request.store.sessions.get(request.caller, request.session_id, min_version=request.min_version)
    return _session_reply(session)


@operation(
    "PUT",
    STATE,
    body=dict,
    answer=SessionAnswer,
    refusals=(*STATE_PROBLEMS, problems.PRECONDITION_REQUIRED),
    conditional=True,
)
def replace_state(request: Request[dict[str, Any]]) -> Reply:
    """Replace the whole state of a session at a version.

    The body is the new state, up to 64 KB. `If-Match` is required and makes the write conditional on the
    version that the caller has read: at any other version nothing is written (412 with `currentVersion`). `*`
    replaces the state at whatever version. To change single keys without a version, use PATCH.

    A request that is sent again after its response was lost is refused with 412 if it succeeded the first
    time: read the session, then decide.
    """
    return _session_reply(
        request.store.sessions.replace_state(
            request.caller,
            request.session_id,
            request.body,
            version=request.expected_version(required=True),
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
def change_state(request: Request[ChangeState]) -> Reply:
    """Set, remove, increment and append keys of the state in one atomic update.

    All operations are applied or none is, and concurrent updates lose nothing, so no version is needed;
    `If-Match` makes the update conditional on one all the same. Incrementing what is not a number or
    appending to what is not a list is refused (400 with `path`).

    `set` and `remove` may be sent again without harm. `increment` and `append` act again, unless the request
    carries an `Idempotency-Key`: the same body and `If-Match` under the same key change nothing and are
    answered with the session as it is by then. If the session is gone by then, the 404 does not say whether
    the change was made.
    """
    caller, session_id, operations = request.caller, request.session_id, request.body.to_domain()
    version = request.expected_version()
    if request.key is None:
        return _session_reply(
            request.store.sessions.change_state(caller, session_id, operations, version=version)
        )
    once = request.store.keyed_sessions.change_state(
        caller, session_id, operations, key=request.key, version=version
    )
    return _session_reply(once.session, replayed=once.replayed)


@operation(
    "POST",
    STATUS,
    body=MoveSession,
    answer=SessionAnswer,
    refusals=(*WRITE_PROBLEMS, problems.INVALID_TRANSITION),
    conditional=True,
)
def move_session(request: Request[MoveSession]) -> Reply:
    """Move a session to another status.

    A session goes from `initializing` to `active`, from either to `closing`, and from `closing` to `closed`.
    A `closing` session takes no new state, messages or tool calls, but calls that are running may end. A
    `closed` one stays readable for up to 24 hours and expires then.

    A session that already has the status is a success, whatever `If-Match` says, so the request may be sent
    again.
    """
    return _session_reply(
        request.store.sessions.move(
            request.caller, request.session_id, Status(request.body.to), version=request.expected_version()
        )
    )


@operation(
    "POST",
    TOUCH,
    answer=SessionAnswer,
    refusals=(*WRITE_PROBLEMS, problems.SESSION_CLOSED),
    conditional=True,
)
def touch_session(request: Request[None]) -> Reply:
    """Keep a session alive without changing it.

    Its expiry moves to `idleTimeout` from now, but never past `maxExpiresAt`; its version stays. Other calls
    on a session do the same, so a touch is needed only where there are none. Frequent touches cost little:
    the expiry is rewritten once per tenth of `idleTimeout`.
    """
    return _session_reply(
        request.store.sessions.touch(request.caller, request.session_id, version=request.expected_version())
    )


@operation(
    "DELETE",
    SESSION,
    statuses=(204,),
    refusals=WRITE_PROBLEMS,
    conditional=True,
    counts=Metric.SESSIONS_DELETED,
)
def delete_session(request: Request[None]) -> Reply:
    """Delete a session at once, in any status.

    The session and its messages, checkpoints and tool calls are unreadable from then on; the child items are
    erased in the background, and the credentials that the session names are revoked. The deletion is audited
    in the same transaction. Sent again, the request is answered with 404.
    """
    request.store.sessions.delete(request.caller, request.session_id, version=request.expected_version())
    return Reply(value=None, status=204)
