"""The recovery view: what a worker that resumes a session has to know about the work so far."""

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


class RecoveryView(Struct, frozen=True, kw_only=True):
    """Claims without inputs, oldest first; the hundred oldest open tasks without payloads; a checkpoint.

    ``in_flight``: calls that are running or may be begun again. ``outcome_unknown``: calls that must be
    reconciled first. ``checkpoint``: the newest of one namespace.
    """

    in_flight: tuple[Claim, ...]
    outcome_unknown: tuple[Claim, ...]
    open_tasks: tuple[Task, ...]
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
        known = [(claim, standing(claim, now_ms=now_ms) is Standing.UNKNOWN) for claim in claims]
        view = RecoveryView(
            in_flight=tuple(claim for claim, unknown in known if not unknown),
            outcome_unknown=tuple(claim for claim, unknown in known if unknown),
            open_tasks=tuple(self.tasks.open_of(session_id)),
            checkpoint=self.checkpoints.newest_of(session, namespace),
        )
        self.access.slide_quietly(caller, session)
        return view
