"""The blocks that ``Store.tool_call`` and ``Store.claim`` return."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Generic, TypeVar

from session_store.in_process import blocking
from session_store.in_process.free_work import ClaimSteps, FreeWork
from session_store.in_process.tool_call import CallSteps, ToolCall
from session_store.in_process.work import BlockOptions

if TYPE_CHECKING:
    from session_store.in_process.awaited import AsyncFreeWork, AsyncToolCall

WorkT = TypeVar("WorkT")
AwaitedT = TypeVar("AwaitedT")


class Block(Generic[WorkT, AwaitedT]):
    """Entered once, by ``with`` or by ``async with``, which give blocking or awaited work."""

    def __init__(
        self,
        blocking: AbstractContextManager[WorkT],
        awaited: Callable[[], AbstractAsyncContextManager[AwaitedT]],
    ) -> None:
        self._blocking = blocking
        self._make_awaited = awaited
        self._entered = False

    def _enter(self) -> None:
        """Refuse a second entry: a block is one attempt, with one fence."""
        if self._entered:
            message = "A block can be entered only once; make another"
            raise RuntimeError(message)
        self._entered = True

    def __enter__(self) -> WorkT:
        self._enter()
        return self._blocking.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return self._blocking.__exit__(kind, error, trace)

    async def __aenter__(self) -> AwaitedT:
        self._enter()
        self._awaited = self._make_awaited()
        return await self._awaited.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._awaited.__aexit__(kind, error, trace)


def tool_call_block(steps: CallSteps, options: BlockOptions) -> "Block[ToolCall, AsyncToolCall]":
    steps = steps.for_one_attempt()

    def awaited() -> "AbstractAsyncContextManager[AsyncToolCall]":
        from session_store.in_process import awaited as to_await  # noqa: PLC0415 - it imports asyncio

        return to_await.hold(lambda: to_await.AsyncToolCall(steps, renew_for=options.renew_for), options)

    return Block(blocking.hold(lambda: ToolCall(steps, renew_for=options.renew_for), options), awaited)


def free_work_block(steps: ClaimSteps, options: BlockOptions) -> "Block[FreeWork, AsyncFreeWork]":
    steps = steps.for_one_attempt()

    def awaited() -> "AbstractAsyncContextManager[AsyncFreeWork]":
        from session_store.in_process import awaited as to_await  # noqa: PLC0415 - it imports asyncio

        return to_await.hold(lambda: to_await.AsyncFreeWork(steps, renew_for=options.renew_for), options)

    return Block(blocking.hold(lambda: FreeWork(steps, renew_for=options.renew_for), options), awaited)
