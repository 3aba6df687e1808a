"""The clean-up after a session has ended: idempotent steps, so that it can be repeated.

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
from session_store.domain.notice import NoticeName, session_ended, session_ended_id
from session_store.domain.session import Author
from session_store.domain.session_end import SessionEnd
from session_store.domain.times import end_of_second, iso, seconds
from session_store.errors import SessionStillThereError, UnavailableError, UnfinishedError
from session_store.ports import AuditStorage, ChildStorage, EventBus, PayloadStorage, SessionStorage
from session_store.schema import session_pk
from session_store.services.principals import EXPIRY_CLEANUP
from session_store.services.revocation import Revocations

PAGE: Final = 1000
"""Child items whose keys are in memory at once."""

RESERVE: Final = 20.0
"""Seconds of the deadline in which no further page is begun, so that the current one can finish."""


class CleanupResult(Struct, frozen=True, kw_only=True):
    """``children``: child items erased. ``revoked`` and ``failed``: credentials; the failed are given up."""

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
        """Erase a session's child items and payloads, revoke its credentials and announce its end.

        Raises:
            InvalidRequestError: not a session id of this store.
            SessionStillThereError: the session has not ended; nothing is done.
            UnfinishedError: out of time; the next delivery of the message continues.
            UnavailableError: a credential could not be revoked now. All else is done, except for the
                summary and the announcement.
        """
        if self.sessions.read(check_session_id(end.session_id)) is not None:
            raise SessionStillThereError("the session's metadata is still there")
        revocations, unavailable = self._revoke(end)
        count = self._erase_children(end)
        self._erase_payloads(end)
        if unavailable is not None:
            raise unavailable
        event = self._summary(end, _facts(end, count, revocations), request_id)
        earlier = self.audit.put_event(event)
        facts = event.facts if earlier is None else earlier.facts
        self.bus.emit([session_ended(end, facts, region=self.region)])
        failed = sum(revocation.failure is not None for revocation in revocations)
        return CleanupResult(children=count, revoked=len(revocations) - failed, failed=failed)

    def _revoke(self, end: SessionEnd) -> tuple[list[Revocation], UnavailableError | None]:
        """Try every credential; a server that does not answer holds up nothing else."""
        revocations: list[Revocation] = []
        unavailable: UnavailableError | None = None
        for reference in end.credential_refs:
            self._stop_in_time()
            try:
                revocations.append(self.revocations.revoke(end.owner.tenant, reference))
            except UnavailableError as error:
                unavailable = error
        return revocations, unavailable

    def _erase_children(self, end: SessionEnd) -> int:
        """Erase page by page, always from the front: late items and those left by a crash are found too."""
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
            raise UnfinishedError("out of time; the next delivery continues")

    def _summary(self, end: SessionEnd, facts: Mapping[str, JsonValue], request_id: str) -> AuditEvent:
        """The summary event. Its key derives from the session and its end, so there is one per end.

        A stream record has the time in whole seconds, the event of a deletion in milliseconds. The summary
        takes the last millisecond of its second, so that it sorts after the deletion.
        """
        return AuditEvent(
            pk=session_pk(end.session_id),
            event_name=NoticeName.SESSION_ENDED,
            at=end_of_second(end.ended_at),
            author=Author(principal=EXPIRY_CLEANUP, request_id=request_id),
            region=self.region,
            operation_id=session_ended_id(end.session_id),
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
