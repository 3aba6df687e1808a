"""Work in an ``async with`` block, its lease renewed by a task.

Requests to the store block, and run in a thread of the event loop's default executor.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Protocol, TypeVar, Unpack

from session_store.domain.free_claim import FreeClaim
from session_store.domain.json_values import JsonValue
from session_store.in_process.free_work import HeldClaim
from session_store.in_process.lease import Lease
from session_store.in_process.tool_call import CompletionOptions, HeldCall
from session_store.in_process.work import RETRIED_BEGIN_ERRORS, BlockOptions, HeldWork, error_of, pauses
from session_store.services.tool_calls.finish import FinishResult


class AsyncToolCall(HeldCall):
    async def complete(self, output: JsonValue, **options: Unpack[CompletionOptions]) -> FinishResult:
        """Complete the call, as ``ToolCall.complete``. After a cancellation it may have been completed."""
        return await asyncio.to_thread(self._complete, output, options)

    async def fail(self, error: JsonValue, *, duration_ms: int | None = None) -> FinishResult:
        """Fail the call, as ``ToolCall.fail``."""
        return await asyncio.to_thread(self._fail, error, duration_ms)


class AsyncFreeWork(HeldClaim):
    async def complete(self, output: JsonValue) -> FreeClaim:
        """Complete the work, as ``FreeWork.complete``. After a cancellation it may have been completed."""
        return await asyncio.to_thread(self._complete, output)

    async def fail(self, error: JsonValue) -> FreeClaim:
        """Fail the work, as ``FreeWork.fail``."""
        return await asyncio.to_thread(self._fail, error)


class AwaitedWork(HeldWork, Protocol):
    async def fail(self, error: JsonValue) -> object: ...


WorkT = TypeVar("WorkT", bound=AwaitedWork)


@asynccontextmanager
async def renewing(lease: Lease) -> AsyncIterator[None]:
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
async def hold(
    begin: Callable[[], WorkT],
    options: BlockOptions,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[WorkT]:
    """Begin the work and hold its lease, as ``blocking.hold``. A cancellation leaves the claim as it is.

    Raises:
        UnsettledError: the block ended without an exception and without an outcome.
    """
    work = await _begin(begin, options.wait, sleep)
    async with nullcontext() if work.finished else renewing(work.lease):
        try:
            yield work
        except options.failures as error:
            if work.is_failed_by(error):
                await work.fail(error_of(error))
            raise
    work.check_settled()


async def _begin(begin: Callable[[], WorkT], wait: float, sleep: Callable[[float], Awaitable[None]]) -> WorkT:
    for pause in pauses(wait):
        try:
            return await asyncio.to_thread(begin)
        except RETRIED_BEGIN_ERRORS:
            await sleep(pause)
    return await asyncio.to_thread(begin)
