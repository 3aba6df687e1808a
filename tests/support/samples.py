"""Values as tests need them: valid, and different only in what a test names."""

import secrets
from typing import Any, Final

from msgspec.structs import replace

from session_store.domain.audit_event import AuditEvent
from session_store.domain.caller import Caller, Permission
from session_store.domain.checkpoint import Checkpoint, content_hash_of
from session_store.domain.claim import ClaimGuard, ClaimStatus
from session_store.domain.free_claim import FreeClaim
from session_store.domain.idempotency_key import KeyClaim, key_hash, key_ttl
from session_store.domain.identifiers import MessageIds, mint_session_id
from session_store.domain.json_values import JsonValue, digest
from session_store.domain.message import Message
from session_store.domain.session import (
    SLIDING,
    WRITABLE,
    Author,
    Owner,
    Session,
    Status,
    author_of,
    owner_of,
)
from session_store.domain.session_write import Change, Guard, SessionWrite
from session_store.domain.settlement import Settlement
from session_store.domain.slide import Slide
from session_store.domain.tool_call import Claim, ToolCallRecord
from session_store.ports import Storage
from session_store.schema import Callers, session_pk
from session_store.settings import Settings

REGION: Final = "us-east-1"
NOW_MS: Final = 1_800_000_000_500
"""A moment in January 2027, half a second into a second, so that rounding shows."""

NOW_SECONDS: Final = NOW_MS // 1000
HOUR: Final = 3600
DAY: Final = 24 * HOUR
AUDIT_RETENTION: Final = 90 * DAY
ALICE: Final = Caller(tenant="111122223333:role/backend", subject="alice", request_id="request-1")
BOB: Final = Caller(tenant="111122223333:role/backend", subject="bob", request_id="request-2")
STRANGER: Final = Caller(tenant="444455556666:role/backend", subject="alice", request_id="request-3")
OPERATOR: Final = Caller(tenant="111122223333:role/ops", permissions=frozenset({Permission.OPS}))
OWNER: Final[Owner] = owner_of(ALICE)
AUTHOR: Final[Author] = author_of(ALICE)
SESSION_ID: Final = "use1-" + "a" * 32
"""Of no session, unless a test gives it to one."""

_message_ids: Final = MessageIds(random_bytes=secrets.token_bytes)


def settings(**changes: Any) -> Settings:
    values: dict[str, Any] = {
        "table": "sessions",
        "audit_table": "audit",
        "region": REGION,
        "regions": (REGION,),
        "callers": Callers.IAM,
        "delegates": frozenset(),
        "status_shards": 4,
        "audit_retention": AUDIT_RETENTION,
        "gateway_decodes_path": False,
    }
    return Settings(**{**values, **changes})


def operation_id() -> str:
    return secrets.token_hex(16)


def a_session(**changes: Any) -> Session:
    """An active session of Alice's, created now, with an hour to live."""
    session = Session(
        session_id=mint_session_id(region=REGION, random_bytes=secrets.token_bytes),
        owner=OWNER,
        status=Status.ACTIVE,
        version=1,
        created_at=NOW_MS,
        updated_at=NOW_MS,
        ttl=NOW_SECONDS + HOUR,
        slide_after=NOW_SECONDS + HOUR // 10,
        idle_timeout=HOUR,
        max_expires_at=NOW_SECONDS + 30 * DAY,
        home_region=REGION,
        write_region=REGION,
        updated_by=AUTHOR,
        last_write=operation_id(),
        state={},
    )
    return replace(session, **changes)


def kept(storage: Storage, **changes: Any) -> Session:
    """``a_session`` that the storage has."""
    session = a_session(**changes)
    storage.sessions.create(session)
    return session


def a_guard(**changes: Any) -> Guard:
    """One of an ordinary write, which ``a_session()`` fulfils."""
    return replace(Guard(now_ms=NOW_MS, owner=OWNER, region=REGION, statuses=WRITABLE), **changes)


def a_write(session: Session, change: Change, **guard: Any) -> SessionWrite:
    return SessionWrite(
        session_id=session.session_id,
        guard=a_guard(**guard),
        change=change,
        operation_id=operation_id(),
        author=AUTHOR,
    )


def a_slide(session: Session, *, now_ms: int, **changes: Any) -> Slide:
    """The slide that a use of the session at ``now_ms`` asks for."""
    slide = Slide(
        session_id=session.session_id,
        guard=a_guard(now_ms=now_ms, owner=session.owner, statuses=SLIDING),
        window=session.window_at(now_ms),
        author=AUTHOR,
        ends_at=session.ttl,
    )
    return replace(slide, **changes)


def a_message(session: Session, content: JsonValue = "hello", **changes: Any) -> Message:
    message = Message(
        session_id=session.session_id,
        message_id=_message_ids.mint(NOW_MS),
        content=content,
        content_hash=digest(content),
        appended_at=NOW_MS,
        ttl=session.max_expires_at,
        author=AUTHOR,
    )
    return replace(message, **changes)


def a_checkpoint(session: Session, data: JsonValue = "step 1", **changes: Any) -> Checkpoint:
    checkpoint = Checkpoint(
        session_id=session.session_id,
        namespace="",
        checkpoint_id=_message_ids.mint(NOW_MS),
        parent_id=None,
        data=data,
        content_hash=content_hash_of(data, parent_id=None, retain_seconds=None),
        taken_at=NOW_MS,
        ttl=session.max_expires_at,
        author=AUTHOR,
    )
    return replace(checkpoint, **changes)


def a_call(
    session: Session, tool_call_id: str, *, started_at: int = NOW_MS, output: JsonValue = "found"
) -> tuple[Claim, ToolCallRecord]:
    """A settled claim and the record that goes with it."""
    claim = Claim(
        session_id=session.session_id,
        tool_call_id=tool_call_id,
        owner=session.owner,
        tool_name="search",
        status=ClaimStatus.COMPLETED,
        input_hash=digest({"q": tool_call_id}),
        outcome_hash=digest(output),
        started_at=started_at,
        attempt_id="attempt",
        retry_safe=False,
        fence=NOW_MS,
        lease_until_ms=NOW_MS,
        ttl=session.max_expires_at,
        author=AUTHOR,
    )
    record = ToolCallRecord(
        session_id=session.session_id,
        tool_call_id=tool_call_id,
        tool_name="search",
        status=ClaimStatus.COMPLETED,
        input={"q": tool_call_id},
        output=output,
        error=None,
        started_at=started_at,
        completed_at=started_at + 7,
        duration_ms=7,
        fence=NOW_MS,
        ttl=session.max_expires_at,
        author=AUTHOR,
    )
    return claim, record


def a_running_call(session: Session, tool_call_id: str = "c1", **changes: Any) -> Claim:
    """Begun now, with a minute's lease."""
    claim = Claim(
        session_id=session.session_id,
        tool_call_id=tool_call_id,
        owner=session.owner,
        tool_name="search",
        input={"q": tool_call_id},
        status=ClaimStatus.IN_PROGRESS,
        input_hash=digest({"q": tool_call_id}),
        started_at=NOW_MS,
        attempt_id="attempt",
        retry_safe=False,
        fence=NOW_MS,
        lease_until_ms=NOW_MS + 60_000,
        ttl=session.max_expires_at,
        author=AUTHOR,
    )
    return replace(claim, **changes)


def a_free_claim(**changes: Any) -> FreeClaim:
    """Of a key of its own, begun now, with a minute's lease."""
    claim = FreeClaim(
        key_hash=digest(operation_id()),
        region=REGION,
        retain_seconds=DAY,
        owner=OWNER,
        input={"n": 1},
        status=ClaimStatus.IN_PROGRESS,
        input_hash=digest({"n": 1}),
        started_at=NOW_MS,
        attempt_id="attempt",
        retry_safe=False,
        fence=NOW_MS,
        lease_until_ms=NOW_MS + 60_000,
        ttl=NOW_SECONDS + 2 * DAY,
        author=AUTHOR,
    )
    return replace(claim, **changes)


def a_settlement(
    claim: Claim, record: ToolCallRecord | None, event: AuditEvent, **changes: Any
) -> Settlement:
    """Of a call id that is free now."""
    settlement = Settlement(
        claim=claim,
        guard=ClaimGuard(now_ms=NOW_MS),
        record=record,
        event=event,
        token=event.operation_id,
    )
    return replace(settlement, **changes)


def a_key_claim(**changes: Any) -> KeyClaim:
    """A claim of a key of its own, of a write that is done now."""
    claim = KeyClaim(
        key_hash=key_hash(OWNER, route="POST /sessions", key=operation_id()),
        owner=OWNER,
        status=ClaimStatus.COMPLETED,
        input_hash=digest({}),
        started_at=NOW_MS,
        ttl=key_ttl(NOW_MS),
        author=AUTHOR,
        target=SESSION_ID,
        operation_id=operation_id(),
        region=REGION,
    )
    return replace(claim, **changes)


def an_event(session: Session, event_name: str = "SessionDeleted") -> AuditEvent:
    return AuditEvent(
        pk=session_pk(session.session_id),
        event_name=event_name,
        at=NOW_MS,
        author=AUTHOR,
        region=REGION,
        operation_id=operation_id(),
        ttl=NOW_SECONDS + AUDIT_RETENTION,
    )


def recorded(call: Claim | ToolCallRecord) -> ToolCallRecord:
    """A call as it was read, which is finished."""
    assert isinstance(call, ToolCallRecord)
    return call
