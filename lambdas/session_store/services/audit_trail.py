"""The audit trail as the owners of sessions and operators read it."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from session_store.domain.audit_event import AuditEntry
from session_store.domain.caller import Caller, Permission
from session_store.domain.identifiers import check_session_id, check_task_id
from session_store.domain.page import AuditPosition, Page, PageRequest
from session_store.domain.times import is_expired
from session_store.ports import AuditStorage
from session_store.schema import session_pk, task_pk
from session_store.services.access import SessionAccess
from session_store.services.permissions import check_permission

WHOLE_PAGE: Final = 100
"""Entries per page when a trail is read to its end."""


class AuditTrail(Struct, frozen=True, kw_only=True):
    """Reads the trail, for owners page by page and for operators as a whole."""

    storage: AuditStorage
    access: SessionAccess

    def page(
        self, caller: Caller, session_id: str, page: PageRequest[AuditPosition]
    ) -> Page[AuditEntry, AuditPosition]:
        """Read changes and events of a session, the oldest first.

        Raises:
            SessionNotFoundError
        """
        session = self.access.load(caller, session_id)
        result = self.storage.page(session_pk(session_id), page)
        self.access.slide_quietly(caller, session)
        return replace(result, items=self._unexpired(result.items))

    def whole(self, caller: Caller, session_id: str) -> Iterator[AuditEntry]:
        """Read the whole trail of any tenant's session, the oldest first, even after its end.

        Raises:
            ForbiddenError: the caller is not an operator.
        """
        check_permission(caller, Permission.OPS)
        return self._entries(session_pk(check_session_id(session_id)))

    def whole_of_task(self, caller: Caller, task_id: str) -> Iterator[AuditEntry]:
        """Read the whole trail of any tenant's task, as ``whole``.

        Raises:
            ForbiddenError: the caller is not an operator.
        """
        check_permission(caller, Permission.OPS)
        return self._entries(task_pk(check_task_id(task_id)))

    def _entries(self, pk: str) -> Iterator[AuditEntry]:
        after: AuditPosition | None = None
        while True:
            result = self.storage.page(pk, PageRequest(limit=WHOLE_PAGE, after=after))
            yield from self._unexpired(result.items)
            after = result.next
            if after is None:
                return

    def _unexpired(self, entries: Iterable[AuditEntry]) -> tuple[AuditEntry, ...]:
        now_ms = self.access.clock.now_ms()
        return tuple(entry for entry in entries if not is_expired(entry.ttl, now_ms))
