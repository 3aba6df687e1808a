"""Client methods made of call functions: with their parameters, types and docstrings."""

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, get_args

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


def call_method(build: Callable[P, Call[AnswerT]]) -> Callable[Concatenate[Sender, P], AnswerT]:
    """Make a method that sends the call that ``build`` builds."""

    def method(self: Sender, /, *args: P.args, **kwargs: P.kwargs) -> AnswerT:
        return self.send(build(*args, **kwargs))

    return _document(method, build, returns=_answer_type(build))


def list_method(build: Callable[P, Call[Page[ItemT]]]) -> Callable[Concatenate[Sender, P], Iterator[ItemT]]:
    """Make a method that iterates over all items of a list; a page is fetched when it is reached."""

    def method(self: Sender, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[ItemT]:
        return self.iterate(build(*args, **kwargs))

    return _document(method, build, returns=Iterator[_item_type(build)])  # type: ignore[misc]  # for help()


def async_call_method(
    build: Callable[P, Call[AnswerT]],
) -> Callable[Concatenate[AsyncSender, P], Coroutine[Any, Any, AnswerT]]:
    """As ``call_method``."""

    async def method(self: AsyncSender, /, *args: P.args, **kwargs: P.kwargs) -> AnswerT:
        return await self.send(build(*args, **kwargs))

    return _document(method, build, returns=_answer_type(build))


def async_list_method(
    build: Callable[P, Call[Page[ItemT]]],
) -> Callable[Concatenate[AsyncSender, P], AsyncIterator[ItemT]]:
    """As ``list_method``."""

    def method(self: AsyncSender, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[ItemT]:
        return self.iterate(build(*args, **kwargs))

    return _document(method, build, returns=AsyncIterator[_item_type(build)])  # type: ignore[misc]  # for help()


def _answer_type(build: Callable[..., object]) -> Any:  # noqa: ANN401 - a type, or a generic alias
    (answer,) = get_args(inspect.signature(build).return_annotation)
    return answer


def _item_type(build: Callable[..., object]) -> Any:  # noqa: ANN401 - likewise
    (item,) = get_args(_answer_type(build))
    return item


def _document(method: MethodT, build: Callable[..., object], *, returns: object) -> MethodT:
    """Give a method the parameters and docstring of its call function, and the return type ``returns``."""
    signature = inspect.signature(build)
    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    own = signature.replace(parameters=[receiver, *signature.parameters.values()], return_annotation=returns)
    vars(method).update(__signature__=own)
    method.__doc__, method.__name__, method.__qualname__ = build.__doc__, build.__name__, build.__qualname__
    return method
