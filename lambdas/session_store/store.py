"""The store: all use cases over the ports that they need."""

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from msgspec import Struct

from session_store.deadline import Deadline
from session_store.domain.caller import Caller
from session_store.domain.claim import MAX_LEASE
from session_store.errors import NotFoundError
from session_store.ports import Clock, Ids, PayloadStorage, Storage
from session_store.services.access import SessionAccess
from session_store.services.audit_events import AuditEvents
from session_store.services.audit_trail import AuditTrail
from session_store.services.checkpoints import Checkpoints
from session_store.services.context import Context
from session_store.services.dead_letters import DeadLetters
from session_store.services.drain import Drain
from session_store.services.free_claims import FreeClaims, NewClaim
from session_store.services.home import Home
from session_store.services.keyed_checkpoints import KeyedCheckpoints
from session_store.services.keyed_sessions import KeyedSessions
from session_store.services.payloads import Payloads
from session_store.services.recovery import Recovery
from session_store.services.sessions import Sessions
from session_store.services.tasks.access import TaskAccess
from session_store.services.tasks.approvals import Approvals
from session_store.services.tasks.keyed_tasks import KeyedTasks
from session_store.services.tasks.lifecycle import Tasks
from session_store.services.tasks.work import TaskWork
from session_store.services.tool_calls.begin import NewCall, RunningCalls
from session_store.services.tool_calls.finish import FinishedCalls
from session_store.services.tool_calls.read import ToolCalls
from session_store.services.tool_calls.record import RecordedCalls
from session_store.services.tool_calls.transaction import CallTransactionBuilder
from session_store.settings import Settings
from session_store.system import RandomIds, SystemClock

if TYPE_CHECKING:
    from session_store.in_process.awaited import AsyncFreeWork, AsyncToolCall
    from session_store.in_process.block import Block
    from session_store.in_process.free_work import FreeWork
    from session_store.in_process.tool_call import ToolCall


class Store(Struct, frozen=True, kw_only=True):
    """Every use case, ready to be called. ``deadline`` is set anew for each request.

    ``dead_letters`` is created at its first use: most requests need none of its clients, and a cold start
    should not pay for them.
    """

    sessions: Sessions
    keyed_sessions: KeyedSessions
    context: Context
    checkpoints: Checkpoints
    keyed_checkpoints: KeyedCheckpoints
    tool_calls: ToolCalls
    running_calls: RunningCalls
    finished_calls: FinishedCalls
    recorded_calls: RecordedCalls
    claims: FreeClaims
    tasks: Tasks
    keyed_tasks: KeyedTasks
    task_work: TaskWork
    approvals: Approvals
    recovery: Recovery
    audit: AuditTrail
    drain: Drain
    dead_letters: Callable[[], DeadLetters]
    deadline: Deadline

    def tool_call(
        self,
        caller: Caller,
        session_id: str,
        new: NewCall,
        *,
        wait: float = 0,
        renew_for: int = MAX_LEASE,
        failures: tuple[type[Exception], ...] = (),
    ) -> "Block[ToolCall, AsyncToolCall]":
        """A block, ``with`` or ``async with``, that runs a tool call once (``docs/library.md``).

        ``wait``: seconds to wait while another attempt runs it. ``renew_for``: seconds for which the block
        renews its lease. ``failures``: exceptions that leave the block and mean that the call has failed;
        after any other exception its outcome is unknown.

        Raises on entering the block:
            InProgressError: another attempt still runs it.
            UnreconciledError: an expired attempt may have run it.
            IdempotencyMismatchError: the id was used with another tool or input.
            InvalidRequestError, PayloadTooLargeError, SessionClosedError, SessionNotFoundError
        """
        from session_store.in_process import block, tool_call, work  # noqa: PLC0415 - no function runs a call

        steps = tool_call.CallSteps(
            running=self.running_calls,
            finished=self.finished_calls,
            deadline=self.deadline,
            caller=caller,
            session_id=session_id,
            new=new,
        )
        options = work.BlockOptions(wait=wait, renew_for=renew_for, failures=failures)
        return block.tool_call_block(steps, options)

    def claim(
        self,
        caller: Caller,
        key: str,
        new: NewClaim,
        *,
        wait: float = 0,
        renew_for: int = MAX_LEASE,
        failures: tuple[type[Exception], ...] = (),
    ) -> "Block[FreeWork, AsyncFreeWork]":
        """As ``tool_call``, for work under a free key, without a session.

        Raises on entering the block:
            InProgressError, UnreconciledError, IdempotencyMismatchError, InvalidRequestError,
            MisdirectedError, PayloadTooLargeError
        """
        from session_store.in_process import block, free_work, work  # noqa: PLC0415 - likewise

        steps = free_work.ClaimSteps(
            claims=self.claims, deadline=self.deadline, caller=caller, key=key, new=new
        )
        options = work.BlockOptions(wait=wait, renew_for=renew_for, failures=failures)
        return block.free_work_block(steps, options)


def store_on(
    storage: Storage,
    settings: Settings,
    *,
    clock: Clock | None = None,
    ids: Ids | None = None,
    deadline: Deadline | None = None,
    payloads: Callable[[], PayloadStorage] | None = None,
    dead_letters: Callable[[], DeadLetters] | None = None,
) -> Store:
    """The use cases on a storage, with the machine's clock and randomness unless others are given.

    ``payloads`` is called at each use of a large payload; None: large payloads are refused.
    """
    clock = clock or SystemClock()
    ids = ids or RandomIds()
    deadline = deadline or Deadline()
    events = AuditEvents(ids=ids, region=settings.region, retention=settings.audit_retention)
    home = Home(region=settings.region)
    access = SessionAccess(sessions=storage.sessions, clock=clock, home=home)
    large = Payloads(storage=payloads, home=home)
    sessions = Sessions(
        storage=storage.sessions,
        access=access,
        clock=clock,
        ids=ids,
        events=events,
        region=settings.region,
    )
    context = Context(storage=storage.messages, access=access, payloads=large, clock=clock, ids=ids)
    tasks = Tasks(
        storage=storage.tasks,
        access=TaskAccess(storage=storage.tasks, clock=clock, ids=ids, home=home),
        sessions=access,
        ids=ids,
    )
    checkpoints = Checkpoints(
        storage=storage.checkpoints, access=access, payloads=large, clock=clock, ids=ids
    )
    return Store(
        sessions=sessions,
        keyed_sessions=KeyedSessions(storage=storage.keyed_sessions, sessions=sessions, access=access),
        context=context,
        checkpoints=checkpoints,
        keyed_checkpoints=KeyedCheckpoints(storage=storage.checkpoints, checkpoints=checkpoints),
        tool_calls=ToolCalls(storage=storage.tool_calls, access=access, payloads=large, clock=clock),
        running_calls=RunningCalls(
            storage=storage.tool_calls, access=access, payloads=large, clock=clock, ids=ids
        ),
        finished_calls=FinishedCalls(
            storage=storage.tool_calls,
            access=access,
            transactions=CallTransactionBuilder(context=context, events=events, region=settings.region),
            clock=clock,
        ),
        recorded_calls=RecordedCalls(
            storage=storage.tool_calls, access=access, payloads=large, clock=clock, events=events
        ),
        claims=FreeClaims(
            storage=storage.claims,
            clock=clock,
            ids=ids,
            home=home,
            regions=settings.regions,
        ),
        tasks=tasks,
        keyed_tasks=KeyedTasks(storage=storage.keyed_tasks, tasks=tasks),
        task_work=TaskWork(
            storage=storage.tasks, access=tasks.access, sessions=access, shuffle=random.shuffle
        ),
        recovery=Recovery(
            calls=storage.tool_calls, tasks=tasks, checkpoints=checkpoints, access=access, clock=clock
        ),
        approvals=Approvals(storage=storage.tasks, access=tasks.access, events=events),
        audit=AuditTrail(storage=storage.audit, access=access),
        drain=Drain(sessions=storage.sessions, clock=clock, ids=ids, deadline=deadline, home=home),
        dead_letters=dead_letters or no_dead_letters,
        deadline=deadline,
    )


def no_dead_letters() -> NoReturn:
    """Stands in for the dead-letter queues of a deployment without any.

    Raises:
        NotFoundError
    """
    raise NotFoundError("This deployment has no dead-letter queues.")
