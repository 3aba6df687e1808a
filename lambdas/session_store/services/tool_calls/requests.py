"""Requests to finish or reconcile a tool call, and what they change in its session."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from session_store.domain.caller import Caller
from session_store.domain.claim import ClaimStatus, Step
from session_store.domain.claim_steps import reconciled, repeats, settled
from session_store.domain.fingerprints import Members, fingerprint, present_members
from session_store.domain.identifiers import check_session_id
from session_store.domain.json_values import JsonValue
from session_store.domain.payload import payload_size
from session_store.domain.session import Author, Status, author_of, owner_of
from session_store.domain.session_write import ADVANCE_STATE
from session_store.domain.state_operations import StateOperations, check_operations
from session_store.domain.tool_call import Claim, check_call_id, check_duration
from session_store.errors import InvalidRequestError
from session_store.services.claim_requests import check_outcome
from session_store.services.context import Context, NewMessage
from session_store.services.state_limits import check_operations_size
from session_store.services.tasks.new_tasks import NewTask, Origin, check_followers, follower_ids


class FinishOperation(StrEnum):
    COMPLETE = "complete"
    FAIL = "fail"
    RECONCILE = "reconcile"


class SessionChange(Struct, frozen=True, kw_only=True):
    """What a call changes in its session. ``expected_version``: the only session version to change."""

    operations: StateOperations | None = None
    messages: Sequence[NewMessage] = ()
    to: Status | None = None
    expected_version: int | None = None
    tasks: Sequence[NewTask] = ()

    @property
    def members(self) -> Members:
        """The change as a fingerprint covers it."""
        state = None if self.operations is None else self.operations.members
        return present_members(
            {},
            {
                "state": (state, None),
                "messages": ([message.members for message in self.messages], []),
                "status": (self.to, None),
                "expectedVersion": (self.expected_version, None),
                "tasks": ([task.members for task in self.tasks], []),
            },
        )


NO_CHANGE: Final = SessionChange()


class CallOutcome(Struct, frozen=True, kw_only=True):
    """How a call ended. ``duration_ms`` None: the time since the attempt began."""

    status: ClaimStatus
    output: JsonValue = None
    error: JsonValue = None
    duration_ms: int | None = None

    def hash_with(self, change: SessionChange) -> str:
        """The fingerprint of the whole request except for the fence."""
        return fingerprint(
            "call-outcome",
            present_members(
                {"status": self.status},
                {
                    "output": (self.output, None),
                    "error": (self.error, None),
                    "durationMs": (self.duration_ms, None),
                    "change": (change.members, {}),
                },
            ),
        )


class FinishRequest(Struct, frozen=True, kw_only=True):
    """``outcome`` None: the work was not done, and another attempt is allowed.

    ``fence``: of the attempt that finishes, or that was investigated; None for the current one.
    """

    caller: Caller
    session_id: str
    tool_call_id: str
    operation: FinishOperation
    outcome: CallOutcome | None
    change: SessionChange = NO_CHANGE
    fence: int | None = None

    @property
    def author(self) -> Author:
        return author_of(self.caller)

    @property
    def outcome_hash(self) -> str:
        return "" if self.outcome is None else self.outcome.hash_with(self.change)

    @property
    def message_ids(self) -> list[str]:
        return [message.message_id for message in self.change.messages if message.message_id]

    def task_ids(self, claim: Claim) -> list[str]:
        """Ids of the tasks that are created as ``claim`` is settled."""
        return follower_ids(len(self.change.tasks), task_origin(claim))

    def is_repeated(self, claim: Claim) -> bool:
        """Whether the claim is the caller's and settled with the same outcome."""
        mine = claim.owner == owner_of(self.caller)
        return mine and self.outcome is not None and repeats(claim, outcome_hash=self.outcome_hash)

    def step(self, stored: Claim | None, *, now_ms: int) -> Step[Claim]:
        """Judge the stored claim.

        Raises:
            StoreError: as ``claim_steps.settled`` and ``claim_steps.reconciled``.
        """
        status = None if self.outcome is None else self.outcome.status
        if self.fence is None or status is None or self.operation is FinishOperation.RECONCILE:
            return reconciled(
                stored,
                status=status,
                outcome_hash=self.outcome_hash,
                author=self.author,
                now_ms=now_ms,
                fence=self.fence,
            )
        return settled(
            stored,
            fence=self.fence,
            status=status,
            outcome_hash=self.outcome_hash,
            author=self.author,
            now_ms=now_ms,
        )


def task_origin(claim: Claim) -> Origin:
    return claim.session_id, "tool-call", claim.tool_call_id, claim.fence


def check_finish(request: FinishRequest, context: Context) -> None:
    """Check what can be checked before anything is read.

    Raises:
        InvalidRequestError, PayloadTooLargeError
        ForbiddenError: an approval without a named requester.
    """
    check_session_id(request.session_id)
    check_call_id(request.tool_call_id)
    if request.outcome is not None:
        if request.outcome.duration_ms is not None:
            check_duration(request.outcome.duration_ms)
        check_outcome(request.outcome.status, output=request.outcome.output, error=request.outcome.error)
        for path, value in (("$.output", request.outcome.output), ("$.error", request.outcome.error)):
            context.payloads.check_size(payload_size(value), path=path)
    context.check(request.change.messages)
    check_followers(request.caller, request.change.tasks, at="$.tasks")
    for position, task in enumerate(request.change.tasks):
        if task.session_id not in (None, request.session_id):
            path = f"$.tasks[{position}].sessionId"
            raise InvalidRequestError("A task created with a call must be in its session", path=path)
    operations = request.change.operations
    if operations is not None:
        check_operations(operations, at=ADVANCE_STATE)
        check_operations_size(operations, at=ADVANCE_STATE)
