"""Work in an ``async with`` block, its lease renewed by a task.

What asks the store blocks, and runs in a thread of the loop's default executor.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Protocol, TypeVar

from session_store.domain.free_claim import FreeClaim
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Status
from session_store.domain.state_operations import StateOperations
from session_store.in_process import free_work, tool_call
from session_store.in_process.free_work import HeldClaim
from session_store.in_process.lease import Lease
from session_store.in_process.tool_call import HeldCall
from session_store.in_process.work import BEGIN_AGAIN, NO_FAILURES, BlockOptions, failure_of, looks
from session_store.services.context import NewMessage
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tool_calls.finish import FinishResult
from session_store.services.tool_calls.requests import SessionChange


class AsyncToolCall(HeldCall):
    async def complete(
        self,
        output: JsonValue,
        *,
        state: StateOperations | None = None,
        messages: Sequence[NewMessage] = (),
        status: Status | None = None,
        tasks: Sequence[NewTask] = (),
        expected_version: int | None = None,
        duration_ms: int | None = None,
    ) -> FinishResult:
        """As ``ToolCall.complete``. Cancelled, it may be done all the same."""
        change = SessionChange(
            operations=state,
            messages=messages,
            to=status,
            tasks=tasks,
            expected_version=expected_version,
        )
        return await asyncio.to_thread(self._end, tool_call.completed(output, duration_ms), change)

    async def fail(self, error: JsonValue, *, duration_ms: int | None = None) -> FinishResult:
        """As ``ToolCall.fail``."""
        return await asyncio.to_thread(self._end, tool_call.failed(error, duration_ms))


class AsyncFreeWork(HeldClaim):
    async def complete(self, output: JsonValue) -> FreeClaim:
        """As ``FreeWork.complete``. Cancelled, it may be done all the same."""
        return await asyncio.to_thread(self._end, free_work.completed(output))

    async def fail(self, error: JsonValue) -> FreeClaim:
        """As ``FreeWork.fail``."""
        return await asyncio.to_thread(self._end, free_work.failed(error))


class AwaitedWork(Protocol):
    @property
    def lease(self) -> Lease: ...

    @property
    def finished(self) -> bool: ...

    @property
    def may_have_failed(self) -> bool: ...

    def check_settled(self) -> None: ...

    async def fail(self, error: JsonValue) -> object: ...


WorkT = TypeVar("WorkT", bound=AwaitedWork)


@asynccontextmanager
async def renewed(lease: Lease) -> AsyncIterator[None]:
    """Renew the lease for as long as the block runs."""
    task = asyncio.create_task(_renew(lease), name="session-store-lease")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _renew(lease: Lease) -> None:
    again = True
    while again:
        await asyncio.sleep(lease.pause)
        again = await asyncio.to_thread(lease.renew)


@asynccontextmanager
async def held(
    begin: Callable[[], WorkT],
    options: BlockOptions,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[WorkT]:
    """As ``blocking.held``; a cancellation leaves the claim as it is, like whatever else is unexplained.

    Raises:
        UnsettledError
    """
    work = await _begun(begin, options.wait, sleep)
    async with nullcontext() if work.finished else renewed(work.lease):
        try:
            yield work
        except options.failures as error:
            if work.may_have_failed and not isinstance(error, NO_FAILURES):
                await work.fail(failure_of(error))
            raise
    work.check_settled()


async def _begun(begin: Callable[[], WorkT], wait: float, sleep: Callable[[float], Awaitable[None]]) -> WorkT:
    for pause in looks(wait):
        try:
            return await asyncio.to_thread(begin)
        except BEGIN_AGAIN:
            await sleep(pause)
    return await asyncio.to_thread(begin)
