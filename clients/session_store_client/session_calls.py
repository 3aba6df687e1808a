"""``/sessions``: every function is an operation of ``docs/openapi.json``, and named as there."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from session_store_client.answers import Page, Session, SessionSummary, StatusName
from session_store_client.calls import Call, Repeat, given, if_match, parameters, read, session_path


def create_session(
    *,
    idle_timeout: int | None = None,
    max_lifetime: int | None = None,
    state: Mapping[str, Any] | None = None,
    protocol: Mapping[str, Any] | None = None,
    credential_refs: Sequence[str] | None = None,
) -> Call[Session]:
    """Create a session; the store mints its id. ``idle_timeout`` and ``max_lifetime`` in seconds.

    Sent again under its key it is made once. A key is of the region that it is sent to.
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
    """The caller's own sessions, newest first."""
    query = parameters(status=status, limit=limit, cursor=cursor)
    return read("/sessions", Page[SessionSummary], query=query)


def get_session(session_id: str, *, min_version: int | None = None) -> Call[Session]:
    """A session as it is now.

    ``min_version`` is a version that the caller has seen: nothing older is answered.
    """
    return read(session_path(session_id), Session, min_version=min_version)


def replace_state(session_id: str, state: Mapping[str, Any], *, version: int) -> Call[Session]:
    """The whole state anew, if the session is at ``version``.

    It is sent again after a lost answer, for it is done once. A refusal then may be of its own making: the
    first sending moved the version on. That is an ``OutcomeUnknownError``, not a ``VersionConflictError``.
    """
    return Call(
        method="PUT",
        path=f"{session_path(session_id)}/state",
        answer=Session,
        headers=if_match(version),
        body=state,
        repeat=Repeat.GUARDED,
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
    """Operations on top-level keys of the state, together one atomic update that needs no version.

    Sent again under its key it is done once, increments and appends too; the answer is then the session as
    it is by that time.
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
    """Move a session forward; being there already is success.

    It is sent again after a lost answer; a refusal then tells nothing of the first sending, and is an
    ``OutcomeUnknownError``.
    """
    return Call(
        method="POST",
        path=f"{session_path(session_id)}/status",
        answer=Session,
        headers=if_match(version),
        body={"to": to},
        repeat=Repeat.GUARDED,
    )


def touch_session(session_id: str, *, version: int | None = None) -> Call[Session]:
    """A sign of life. It may be sent any number of times."""
    return Call(
        method="POST",
        path=f"{session_path(session_id)}/touch",
        answer=Session,
        headers=if_match(version),
        repeat=Repeat.FREELY,
    )


def delete_session(session_id: str, *, version: int | None = None) -> Call[None]:
    """Gone at once, with all that lies below it.

    It is sent again after a lost answer, and is a success if the session is gone by then.
    """
    return Call(
        method="DELETE",
        path=session_path(session_id),
        answer=type(None),
        headers=if_match(version),
        repeat=Repeat.GONE,
    )
