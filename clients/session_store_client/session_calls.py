"""``/sessions``: every function is an operation of ``docs/openapi.json``, under its name.

A function builds a ``Call``; the client has a method of the same name that sends it. ``version`` is the
version the session must still have (``If-Match``); ``min_version`` is one the caller has seen, and no older
copy is answered. What every call may raise is listed at ``Client``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from session_store_client.answers import (
    AuditEntry,
    HistoryPage,
    Page,
    Recovery,
    Session,
    SessionSummary,
    StatusName,
)
from session_store_client.calls import Call, Repeat, given, if_match, parameters, read, session_path


def create_session(
    *,
    idle_timeout: int | None = None,
    max_lifetime: int | None = None,
    state: Mapping[str, Any] | None = None,
    protocol: Mapping[str, Any] | None = None,
    credential_refs: Sequence[str] | None = None,
) -> Call[Session]:
    """Create a session, in status ``initializing``; the store mints its id.

    ``idle_timeout``: seconds without use after which it expires, 10 to 604800 (default 3600).
    ``max_lifetime``: seconds after which it expires in any case, at most 7776000 (default 2592000).
    ``credential_refs``: up to 10 names of secrets, revoked when the session ends.

    Retried under one ``Idempotency-Key`` a call, so a lost response creates no second session; a second call
    creates another one. The key is scoped to the region that the call is sent to.
    """
    body = given(
        idleTimeout=idle_timeout,
        maxLifetime=max_lifetime,
        state=state,
        protocol=protocol,
        credentialRefs=None if credential_refs is None else list(credential_refs),
    )
    return Call(
        method="POST", path="/sessions", answer=Session, body=body, repeat=Repeat.RECOGNISED, keyed=True
    )


def list_sessions(
    *, status: StatusName | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[Page[SessionSummary]]:
    """List the caller's own sessions, newest first, without their states.

    ``limit``: sessions a page, 1 to 100 (default 20). Safe to repeat.
    """
    query = parameters(status=status, limit=limit, cursor=cursor)
    return read("/sessions", Page[SessionSummary], query=query)


def get_session(session_id: str, *, min_version: int | None = None) -> Call[Session]:
    """Read a session. A read counts as use and may extend the session. Safe to repeat.

    Raises:
        SessionNotFoundError: there is none, it has expired, or it belongs to another caller.
    """
    return read(session_path(session_id), Session, min_version=min_version)


def replace_state(session_id: str, state: Mapping[str, Any], *, version: int) -> Call[Session]:
    """Replace the whole state of a session that is still at ``version``.

    Retried after a lost response: the version lets it happen once. A refusal after that may be caused by
    the first attempt, which has moved the version on, so it is raised as ``OutcomeUnknownError``.

    Raises:
        SessionNotFoundError: as in ``get_session``.
        VersionConflictError: the session is at another version (``current_version``): read it again.
        SessionClosedError: it is closing or closed.
        PayloadTooLargeError: the state exceeds the limit.
        OutcomeUnknownError: the state may have been replaced by an attempt whose response was lost.
    """
    return Call(
        method="PUT",
        path=f"{session_path(session_id)}/state",
        answer=Session,
        headers=if_match(version),
        body=state,
        repeat=Repeat.CONDITIONAL,
    )


def change_state(
    session_id: str,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - the operation's name in the contract
    remove: Sequence[str] | None = None,
    increment: Mapping[str, Any] | None = None,
    append: Mapping[str, Sequence[Any]] | None = None,
    version: int | None = None,
) -> Call[Session]:
    """Set, remove, increment and append top-level keys of the state, in one atomic update.

    No ``version`` is needed: parallel changes of different keys all take effect. A key may be in one
    operation only; there may be at most 50.

    Retried under one ``Idempotency-Key`` a call, so a lost response increments and appends nothing twice;
    the answer is the session as it is by then. A second call changes the state again.

    Raises:
        SessionNotFoundError, VersionConflictError, SessionClosedError, PayloadTooLargeError: as in
            ``replace_state``.
        InvalidRequestError: a key's value has the wrong type, such as an increment of a text; see ``path``.
    """
    removed = None if remove is None else list(remove)
    return Call(
        method="PATCH",
        path=f"{session_path(session_id)}/state",
        answer=Session,
        headers=if_match(version),
        body=given(set=set, remove=removed, increment=increment, append=append),
        repeat=Repeat.RECOGNISED,
        keyed=True,
    )


def move_session(
    session_id: str, to: Literal["active", "closing", "closed"], *, version: int | None = None
) -> Call[Session]:
    """Move a session forward: ``initializing``, ``active``, ``closing``, ``closed``.

    A session that is already there is a success, so the call is safe to repeat. Retried after a lost
    response; a refusal after that is raised as ``OutcomeUnknownError``.

    Raises:
        SessionNotFoundError, VersionConflictError: as in ``replace_state``.
        InvalidTransitionError: the status does not lead there, such as from ``active`` to ``closed``.
    """
    return Call(
        method="POST",
        path=f"{session_path(session_id)}/status",
        answer=Session,
        headers=if_match(version),
        body={"to": to},
        repeat=Repeat.CONDITIONAL,
    )


def touch_session(session_id: str, *, version: int | None = None) -> Call[Session]:
    """Keep a session alive: a sign of use that changes nothing else. Safe to repeat.

    Raises:
        SessionNotFoundError, VersionConflictError, SessionClosedError: as in ``replace_state``.
    """
    return Call(
        method="POST",
        path=f"{session_path(session_id)}/touch",
        answer=Session,
        headers=if_match(version),
        repeat=Repeat.IDEMPOTENT,
    )


def delete_session(session_id: str, *, version: int | None = None) -> Call[None]:
    """Delete a session and everything that belongs to it; it is unreadable at once.

    Retried after a lost response; that the session is gone by then is a success.

    Raises:
        SessionNotFoundError: as in ``get_session``; also when it was deleted before.
        VersionConflictError: the session is at another version.
    """
    return Call(
        method="DELETE",
        path=session_path(session_id),
        answer=type(None),
        headers=if_match(version),
        repeat=Repeat.DELETION,
    )


def get_history(
    session_id: str, *, min_version: int | None = None, limit: int | None = None, cursor: str | None = None
) -> Call[HistoryPage]:
    """Read a session together with one page of its finished tool calls, oldest first.

    One page, not an iterator: pass its ``next_cursor`` as ``cursor`` for the next. ``limit`` is 1 to 100
    (default 20). Safe to repeat.

    Raises:
        SessionNotFoundError: as in ``get_session``.
    """
    query = parameters(limit=limit, cursor=cursor)
    return read(f"{session_path(session_id)}/history", HistoryPage, query=query, min_version=min_version)


def get_recovery(session_id: str, *, namespace: str = "", min_version: int | None = None) -> Call[Recovery]:
    """Read what another worker needs to go on with a session whose worker is gone.

    Tool calls in progress, calls whose outcome is unknown and open tasks, the hundred oldest of each, and the
    latest checkpoint of ``namespace``. Safe to repeat.

    Raises:
        SessionNotFoundError: as in ``get_session``.
    """
    path = f"{session_path(session_id)}/recovery"
    return read(path, Recovery, query=parameters(namespace=namespace), min_version=min_version)


def list_audit(
    session_id: str, *, limit: int | None = None, cursor: str | None = None
) -> Call[Page[AuditEntry]]:
    """List the audit trail of a living session and what belongs to it, oldest first.

    ``limit``: entries a page, 1 to 100 (default 20). Entries of the last seconds may still be missing. Safe
    to repeat.

    Raises:
        SessionNotFoundError: as in ``get_session``.
    """
    return read(
        f"{session_path(session_id)}/audit", Page[AuditEntry], query=parameters(limit=limit, cursor=cursor)
    )
