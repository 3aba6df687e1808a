"""How a tool call ends, and what goes with that: as it is asked for."""

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
from session_store.domain.session import Author, Status, author_of, owner_of
from session_store.domain.session_write import ADVANCE_STATE
from session_store.domain.state_operations import StateOperations, checked
from session_store.domain.tool_call import Claim, check_call_id
from session_store.errors import InvalidRequestError
from session_store.services.claim_stepping import check_outcome
from session_store.services.context import Context, NewMessage
from session_store.services.state_limits import check_size
from session_store.services.tasks.new_tasks import NewTask, Origin, check_followers, follower_ids


class FinishOperation(StrEnum):
    COMPLETE = "complete"
    FAIL = "fail"
    RECONCILE = "reconcile"


class SessionChange(Struct, frozen=True, kw_only=True):
    """What goes with a call's completion. ``expected_version``: at which version of the session alone."""

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
    """How a call ended. ``duration_ms`` None: as long as the attempt lasted."""

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
    """What is asked for. ``outcome`` None: nobody knows it, and the call may be tried again.

    ``fence``: of the attempt that ends, or that was looked into; None for whichever there is.
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
        """Of the tasks that go with the call, as ``claim`` ends it."""
        return follower_ids(len(self.change.tasks), task_origin(claim))

    def is_repeated(self, claim: Claim) -> bool:
        """Whether the caller's own claim is settled with this very outcome."""
        mine = claim.owner == owner_of(self.caller)
        return mine and self.outcome is not None and repeats(claim, outcome_hash=self.outcome_hash)

    def step(self, held: Claim | None, *, now_ms: int) -> Step[Claim]:
        status = None if self.outcome is None else self.outcome.status
        if self.fence is None or status is None or self.operation is FinishOperation.RECONCILE:
            return reconciled(
                held,
                status=status,
                outcome_hash=self.outcome_hash,
                author=self.author,
                now_ms=now_ms,
                fence=self.fence,
            )
        return settled(
            held,
            fence=self.fence,
            status=status,
            outcome_hash=self.outcome_hash,
            author=self.author,
            now_ms=now_ms,
        )


def task_origin(claim: Claim) -> Origin:
    return claim.session_id, "tool-call", claim.tool_call_id, claim.fence


def check_finish(end: FinishRequest, context: Context) -> None:
    """Judge what can be judged before anything is read.

    Raises:
        InvalidRequestError, PayloadTooLargeError
        ForbiddenError: an approval that nobody in particular asks for.
    """
    check_session_id(end.session_id)
    check_call_id(end.tool_call_id)
    if end.outcome is not None:
        check_outcome(end.outcome.status, output=end.outcome.output, error=end.outcome.error)
        context.payloads.check(end.outcome.output, path="$.output")
        context.payloads.check(end.outcome.error, path="$.error")
    context.check(end.change.messages)
    check_followers(end.caller, end.change.tasks, at="$.tasks")
    for position, task in enumerate(end.change.tasks):
        if task.session_id not in (None, end.session_id):
            path = f"$.tasks[{position}].sessionId"
            raise InvalidRequestError("A task that goes with a call is in its session", path=path)
    done = end.change.operations
    if done is not None:
        check_size([done.set, done.remove, done.increment, done.append])
        checked(done, at=ADVANCE_STATE)
