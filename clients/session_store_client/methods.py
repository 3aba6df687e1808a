"""Calls as methods: each client has the parameters, types and words of the operation itself."""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from session_store_client.answers import Page
from session_store_client.calls import Call

P = ParamSpec("P")
AnswerT = TypeVar("AnswerT")
ItemT = TypeVar("ItemT")
MethodT = TypeVar("MethodT", bound=Callable[..., Any])


class Sender(Protocol):
    def send(self, call: Call[AnswerT], /) -> AnswerT: ...

    def iterate(self, first: Call[Page[ItemT]], /) -> Iterator[ItemT]: ...


class AsyncSender(Protocol):
    async def send(self, call: Call[AnswerT], /) -> AnswerT: ...

    def iterate(self, first: Call[Page[ItemT]], /) -> AsyncIterator[ItemT]: ...


def call_method(make: Callable[P, Call[AnswerT]]) -> Callable[Concatenate[Sender, P], AnswerT]:
    def method(self: Sender, /, *args: P.args, **kwargs: P.kwargs) -> AnswerT:
        return self.send(make(*args, **kwargs))

    return _described(method, make)


def list_method(make: Callable[P, Call[Page[ItemT]]]) -> Callable[Concatenate[Sender, P], Iterator[ItemT]]:
    """All items, page by page, each page asked for when it is reached."""

    def method(self: Sender, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[ItemT]:
        return self.iterate(make(*args, **kwargs))

    return _described(method, make)


def async_call_method(
    make: Callable[P, Call[AnswerT]],
) -> Callable[Concatenate[AsyncSender, P], Coroutine[Any, Any, AnswerT]]:
    async def method(self: AsyncSender, /, *args: P.args, **kwargs: P.kwargs) -> AnswerT:
        return await self.send(make(*args, **kwargs))

    return _described(method, make)


def async_list_method(
    make: Callable[P, Call[Page[ItemT]]],
) -> Callable[Concatenate[AsyncSender, P], AsyncIterator[ItemT]]:
    """As ``list_method``."""

    def method(self: AsyncSender, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[ItemT]:
        return self.iterate(make(*args, **kwargs))

    return _described(method, make)


def _described(method: MethodT, make: Callable[..., object]) -> MethodT:
    signature = inspect.signature(make)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    told = signature.replace(parameters=[own, *signature.parameters.values()])
    vars(method).update(__signature__=told)
    method.__doc__, method.__name__, method.__qualname__ = make.__doc__, make.__name__, make.__qualname__
    return method
