"""What is done after a session has ended, each step so that doing it again changes nothing.

The order and its reasons are in docs/decisions/0007-what-happens-after-a-session.md.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.audit_event import AuditEvent
from session_store.domain.credential import Revocation
from session_store.domain.identifiers import check_session_id
from session_store.domain.json_values import JsonValue
from session_store.domain.notice import NoticeName, ended_id, session_ended
from session_store.domain.session import Author
from session_store.domain.session_end import SessionEnd
from session_store.domain.times import end_of_second, iso, seconds
from session_store.errors import SessionStillThereError, UnavailableError, UnfinishedError
from session_store.ports import AuditStorage, ChildStorage, EventBus, PayloadStorage, SessionStorage
from session_store.schema import session_pk
from session_store.services.revocation import Revocations

PRINCIPAL: Final = "session-store expiry-cleanup"
PAGE: Final = 1000
"""Children whose keys are held at once."""

RESERVE: Final = 20.0
"""Seconds of the deadline in which no further page is begun: the one begun before has to end in time."""


class CleanupResult(Struct, frozen=True, kw_only=True):
    """How many there were of each; ``failed`` credentials are given up."""

    children: int
    revoked: int
    failed: int


class Cleanup(Struct, frozen=True, kw_only=True):
    """``payloads`` is None where no bucket is configured."""

    sessions: SessionStorage
    children: ChildStorage
    payloads: PayloadStorage | None
    revocations: Revocations
    audit: AuditStorage
    bus: EventBus
    deadline: Deadline
    region: str
    audit_retention: int
    """Seconds that the summary is kept."""

    def run(self, end: SessionEnd, *, request_id: str) -> CleanupResult:
        """Erase what a session left behind, and tell of its end.

        Raises:
            InvalidRequestError: no session id of this store.
            SessionStillThereError: the session has not ended; nothing is done.
            UnfinishedError: time is up; the next delivery goes on.
            UnavailableError: a credential is to be tried again; all else but the summary is done.
        """
        if self.sessions.read(check_session_id(end.session_id)) is not None:
            raise SessionStillThereError("the session's metadata is still there")
        revocations, unavailable = self._revoke(end)
        count = self._erase_children(end)
        self._erase_payloads(end)
        if unavailable is not None:
            raise unavailable
        event = self._summary(end, _facts(end, count, revocations), request_id)
        kept = self.audit.put_event(event)
        facts = event.facts if kept is None else kept.facts
        self.bus.emit([session_ended(end, facts, region=self.region)])
        failed = sum(revocation.failure is not None for revocation in revocations)
        return CleanupResult(children=count, revoked=len(revocations) - failed, failed=failed)

    def _revoke(self, end: SessionEnd) -> tuple[list[Revocation], UnavailableError | None]:
        """Every credential is tried, and a server that is away keeps nothing else from being done."""
        done: list[Revocation] = []
        unavailable: UnavailableError | None = None
        for reference in end.credential_refs:
            self._stop_in_time()
            try:
                done.append(self.revocations.revoke(end.owner.tenant, reference))
            except UnavailableError as error:
                unavailable = error
        return done, unavailable

    def _erase_children(self, end: SessionEnd) -> int:
        """Page by page from the front, so that what came late or was left by a crash is met as well."""
        erasure = self.children.read_erasure(end.session_id)
        while sks := self.children.first(end.session_id, limit=PAGE):
            self._stop_in_time()
            while (after := erasure.counting(sks)) != erasure:
                erasure = self.children.advance(end.session_id, erasure, after, ttl=self._kept_until(end))
            self.children.erase(end.session_id, sks)
        return erasure.counted

    def _erase_payloads(self, end: SessionEnd) -> None:
        while self.payloads is not None and self.payloads.erase_some(end.session_id):
            self._stop_in_time()

    def _stop_in_time(self) -> None:
        if self.deadline.remaining() < RESERVE:
            raise UnfinishedError("time is up; the next delivery goes on")

    def _summary(self, end: SessionEnd, facts: Mapping[str, JsonValue], request_id: str) -> AuditEvent:
        """Its key follows from the session and its end, so a second one meets the first.

        The stream tells of an end the second alone, and the event of a deletion has its
        milliseconds: the summary stands at the end of that second, behind it.
        """
        return AuditEvent(
            pk=session_pk(end.session_id),
            event_name=NoticeName.SESSION_ENDED,
            at=end_of_second(end.ended_at),
            author=Author(principal=PRINCIPAL, request_id=request_id),
            region=self.region,
            operation_id=ended_id(end.session_id),
            ttl=self._kept_until(end),
            facts=facts,
        )

    def _kept_until(self, end: SessionEnd) -> int:
        return seconds(end.ended_at) + self.audit_retention


def _facts(end: SessionEnd, count: int, revocations: Sequence[Revocation]) -> dict[str, JsonValue]:
    return {
        "reason": end.reason.value,
        "status": end.status,
        "createdAt": iso(end.created_at),
        "endedAt": iso(end.ended_at),
        "childrenDeleted": count,
        "credentialsRevoked": [each.reference for each in revocations if each.failure is None],
        "credentialsFailed": [
            {"reference": each.reference, "reason": each.failure} for each in revocations if each.failure
        ],
    }
