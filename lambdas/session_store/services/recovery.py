"""What somebody finds who takes a session up: calls and tasks of those before, and how far they came."""

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
    """Calls that somebody runs or that may be begun anew, and those to be looked into first.

    Claims are without their inputs, the oldest first; tasks are the oldest hundred, without their
    payloads. ``checkpoint``: the newest of one namespace.
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
        """What a session has in flight. Claims and checkpoint are read consistently, tasks by an index.

        Raises:
            InvalidRequestError, MisdirectedError, PayloadMissingError, SessionNotFoundError
        """
        check_namespace(namespace, path="query namespace")
        session = self.access.load(caller, session_id, min_version=min_version)
        now_ms = self.clock.now_ms()
        claims = sorted(self.calls.unsettled(session_id), key=lambda claim: claim.started_at)
        stands = [(claim, standing(claim, now_ms=now_ms) is Standing.UNKNOWN) for claim in claims]
        found = RecoveryView(
            in_flight=tuple(claim for claim, unknown in stands if not unknown),
            outcome_unknown=tuple(claim for claim, unknown in stands if unknown),
            open_tasks=tuple(self.tasks.open_of(session_id)),
            checkpoint=self.checkpoints.newest_of(session, namespace),
        )
        self.access.slide_quietly(caller, session)
        return found
