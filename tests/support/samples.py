"""Domain values as tests need them: valid, and different only in what a test names."""

import secrets
from dataclasses import replace
from typing import Any, Final

from session_store.domain.audit_event import AuditEvent
from session_store.domain.identifiers import MessageIds, mint_session_id
from session_store.domain.json_values import JsonValue, digest
from session_store.domain.message import Message
from session_store.domain.session import WRITABLE, Author, Owner, Session, Status
from session_store.domain.session_write import Change, Guard, SessionWrite
from session_store.domain.slide import Slide
from session_store.domain.tool_call import Claim, ClaimStatus, ToolCallRecord
from session_store.domain.window import Window

REGION: Final = "us-east-1"
NOW: Final = 1_800_000_000_000
"""Milliseconds: a moment in January 2027."""

NOW_SECONDS: Final = NOW // 1000
HOUR: Final = 3600
OWNER: Final = Owner(tenant="111122223333:user/anna", subject="-")
STRANGER: Final = Owner(tenant="444455556666:user/bert", subject="-")
AUTHOR: Final = Author(principal="111122223333:user/anna -", request_id="request-1")

_message_ids: Final = MessageIds(random_bytes=secrets.token_bytes)


def operation_id() -> str:
    return secrets.token_hex(16)


def a_session(**changes: Any) -> Session:
    """An active session of ``OWNER``, created now, with an hour to live."""
    session = Session(
        session_id=mint_session_id(region=REGION, random_bytes=secrets.token_bytes),
        owner=OWNER,
        status=Status.ACTIVE,
        version=1,
        created_at=NOW,
        updated_at=NOW,
        ttl=NOW_SECONDS + HOUR,
        slide_after=NOW_SECONDS + HOUR // 10,
        idle_timeout=HOUR,
        max_expires_at=NOW_SECONDS + 30 * 24 * HOUR,
        home_region=REGION,
        write_region=REGION,
        updated_by=AUTHOR,
        last_write=operation_id(),
        state={},
    )
    return replace(session, **changes)


def a_guard(**changes: Any) -> Guard:
    return replace(Guard(now_ms=NOW, owner=OWNER, region=REGION, statuses=WRITABLE), **changes)


def a_write(session: Session, change: Change, **guard: Any) -> SessionWrite:
    return SessionWrite(
        session_id=session.session_id,
        guard=a_guard(**guard),
        change=change,
        operation_id=operation_id(),
        author=AUTHOR,
    )


def a_slide(session: Session, *, now_ms: int) -> Slide:
    """The slide that a use of the session at ``now_ms`` asks for."""
    return Slide(
        session_id=session.session_id,
        owner=session.owner,
        region=REGION,
        now_ms=now_ms,
        window=Window(ttl=now_ms // 1000 + HOUR, slide_after=now_ms // 1000 + HOUR // 10),
        author=AUTHOR,
    )


def a_message(session: Session, content: JsonValue = "hello", **changes: Any) -> Message:
    message = Message(
        session_id=session.session_id,
        message_id=_message_ids.mint(NOW),
        content=content,
        content_hash=digest(content),
        appended_at=NOW,
        ttl=session.max_expires_at,
        author=AUTHOR,
    )
    return replace(message, **changes)


def a_call(session: Session, tool_call_id: str, *, started_at: int = NOW) -> tuple[Claim, ToolCallRecord]:
    """A settled claim and the record that goes with it."""
    claim = Claim(
        session_id=session.session_id,
        tool_call_id=tool_call_id,
        owner=session.owner,
        tool_name="search",
        status=ClaimStatus.COMPLETED,
        input_hash=digest({"q": tool_call_id}),
        outcome_hash=digest("found"),
        started_at=started_at,
        fence=NOW,
        lease_until_ms=NOW,
        ttl=session.max_expires_at,
        author=AUTHOR,
    )
    record = ToolCallRecord(
        session_id=session.session_id,
        tool_call_id=tool_call_id,
        tool_name="search",
        status=ClaimStatus.COMPLETED,
        input={"q": tool_call_id},
        output="found",
        error=None,
        started_at=started_at,
        completed_at=started_at + 7,
        duration_ms=7,
        fence=NOW,
        ttl=session.max_expires_at,
        author=AUTHOR,
    )
    return claim, record


def an_event(session: Session, event_name: str = "SessionDeleted") -> AuditEvent:
    return AuditEvent(
        session_id=session.session_id,
        event_name=event_name,
        at=NOW,
        author=AUTHOR,
        region=REGION,
        operation_id=operation_id(),
        ttl=NOW_SECONDS + 90 * 24 * HOUR,
    )
