"""The recovery view: what a worker that resumes a session has to know about the work so far."""

from typing import Final

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.checkpoint import Checkpoint, check_namespace
from session_store.domain.claim import Standing, standing
from session_store.domain.task import Task
from session_store.domain.tool_call import Claim
from session_store.ports import Clock, ToolCallStorage
from session_store.services.access import SessionAccess
from session_store.services.checkpoints import Checkpoints
from session_store.services.tasks.lifecycle import Tasks

MAX_CALLS: Final = 100
"""Calls of each kind in a view."""


class RecoveryView(Struct, frozen=True, kw_only=True):
    """Claims without inputs and open tasks without payloads, the hundred oldest of each kind; a checkpoint.

    ``in_flight``: calls that are running or may be begun again. ``outcome_unknown``: calls that must be
    reconciled first. ``more``: there are more calls or open tasks than these. ``checkpoint``: the newest of
    one namespace.
    """

    in_flight: tuple[Claim, ...]
    outcome_unknown: tuple[Claim, ...]
    open_tasks: tuple[Task, ...]
    more: bool
    checkpoint: Checkpoint | None


class Recovery(Struct, frozen=True, kw_only=True):
    calls: ToolCallStorage
    tasks: Tasks
    checkpoints: Checkpoints
    access: SessionAccess
    clock: Clock

    def find(
        self, caller: Caller, session_id: str, *, namespace: str = "", min_version: int = 0
    ) -> RecoveryView:
        """Find what a session has in flight. Claims and checkpoint are read consistently, tasks by an index.

        Raises:
            InvalidRequestError, MisdirectedError, PayloadMissingError, SessionNotFoundError
        """
        check_namespace(namespace, path="query namespace")
        session = self.access.load(caller, session_id, min_version=min_version)
        now_ms = self.clock.now_ms()
        claims = sorted(self.calls.unsettled(session_id), key=lambda claim: claim.started_at)
        unknown = [claim for claim in claims if standing(claim, now_ms=now_ms) is Standing.UNKNOWN]
        in_flight = [claim for claim in claims if standing(claim, now_ms=now_ms) is not Standing.UNKNOWN]
        tasks = self.tasks.open_of(session_id)
        view = RecoveryView(
            in_flight=tuple(in_flight[:MAX_CALLS]),
            outcome_unknown=tuple(unknown[:MAX_CALLS]),
            open_tasks=tasks.oldest,
            more=tasks.more or max(len(in_flight), len(unknown)) > MAX_CALLS,
            checkpoint=self.checkpoints.newest_of(session, namespace),
        )
        self.access.slide_quietly(caller, session)
        return view
