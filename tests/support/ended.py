"""A session that has ended with children left behind, and the clean-up over a storage."""

import json
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.credential import secret_name
from session_store.domain.message import Message
from session_store.domain.page import PageRequest
from session_store.domain.session import Session
from session_store.domain.session_end import EndReason, SessionEnd
from session_store.ports import Storage
from session_store.schema import session_pk
from session_store.services.cleanup import Cleanup
from session_store.services.revocation import Revocations
from session_store.storage.memory.surroundings import (
    MemoryBus,
    MemoryPayloads,
    MemoryRevoker,
    MemorySecrets,
)
from tests.support.samples import (
    NOW_MS,
    REGION,
    a_call,
    a_checkpoint,
    a_message,
    a_session,
    a_settlement,
    an_event,
)

PREFIX: Final = "session-store/test"
RETENTION: Final = 90 * 86_400


def an_end(session: Session, **changes: Any) -> SessionEnd:
    """What the stream's consumer says of a session that has expired."""
    end = SessionEnd(
        session_id=session.session_id,
        owner=session.owner,
        reason=EndReason.EXPIRED,
        status=session.status,
        version=session.version,
        created_at=session.created_at,
        ended_at=NOW_MS + 3_600_000,
        credential_refs=session.credential_refs,
    )
    return replace(end, **changes)


def left_behind(storage: Storage, *, messages: int, calls: int = 0, checkpoints: int = 0) -> Session:
    """A session whose metadata is gone and whose children are not: a call is a claim and a record."""
    session = a_session()
    for number in range(messages):
        storage.messages.put(a_message(session, f"message {number}"))
    for number in range(calls):
        claim, record = a_call(session, f"call-{number}")
        storage.tool_calls.settle(a_settlement(claim, record, an_event(session, "ToolCallRecorded")))
    for number in range(checkpoints):
        storage.checkpoints.put(a_checkpoint(session, number, namespace="n#" * (number % 2)))
    return session


def messages_of(storage: Storage, session: Session) -> tuple[Message, ...]:
    return storage.messages.page(session.session_id, PageRequest(limit=100)).items


@dataclass(kw_only=True)
class Surroundings:
    """What the clean-up reaches beside the tables."""

    bus: MemoryBus = field(default_factory=MemoryBus)
    secrets: MemorySecrets = field(default_factory=MemorySecrets)
    payloads: MemoryPayloads = field(default_factory=MemoryPayloads)
    revoker: MemoryRevoker = field(default_factory=MemoryRevoker)
    deadline: Deadline = field(default_factory=Deadline)

    def keep_secret(self, end: SessionEnd, reference: str, **secret: object) -> None:
        self.secrets.texts[secret_name(PREFIX, end.owner.tenant, reference)] = json.dumps(secret)

    def cleanup(self, storage: Storage) -> Cleanup:
        return Cleanup(
            sessions=storage.sessions,
            children=storage.children,
            payloads=self.payloads,
            revocations=Revocations(secrets=self.secrets, revoker=self.revoker, prefix=PREFIX),
            audit=storage.audit,
            bus=self.bus,
            deadline=self.deadline,
            region=REGION,
            audit_retention=RETENTION,
        )


def summaries(storage: Storage, session: Session) -> list[Any]:
    """The summaries of its end in the trail."""
    trail = storage.audit.page(session_pk(session.session_id), PageRequest(limit=100)).items
    return [entry for entry in trail if entry.event_name == "SessionEnded"]
