"""A demo's steps: each is shown, and has to be answered as it should."""

import json
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from session_store_client import Client, SessionStoreError
from session_store_client.calls import Call
from session_store_client.cli.output import as_json

SHOWN: Final = 160
AnswerT = TypeVar("AnswerT")


class DemoError(RuntimeError):
    """A step had another answer than it should; the message shows it."""


def step(client: Client, call: Call[AnswerT]) -> AnswerT:
    """Raises:
    DemoError: the call is refused.
    """
    return show(call, lambda: client.send(call))


def show(call: Call[AnswerT], answered: Callable[[], AnswerT]) -> AnswerT:
    """As ``step``, with an answer that comes from elsewhere."""
    print(f"  {call.method} {call.target}")
    try:
        answer = answered()
    except SessionStoreError as error:
        raise DemoError(f"{call.method} {call.target} was not to be refused: {error}") from error
    print(f"    {shortened(as_json(answer)) if answer is not None else 'done'}")
    return answer


def refused(client: Client, call: Call[AnswerT], kind: type[SessionStoreError]) -> None:
    """Raises:
    DemoError: the call is answered, or refused for another reason.
    """
    print(f"  {call.method} {call.target}")
    try:
        answer: object = client.send(call)
    except kind as error:
        print(f"    {error.status} {shortened(str(error))}")
    except SessionStoreError as error:
        raise DemoError(f"{call.method} {call.target} was to be refused otherwise: {error}") from error
    else:
        raise DemoError(f"{call.method} {call.target} was to be refused: {answer}")


def title(text: str) -> None:
    print(f"\n{text}")


def expect(holds: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise DemoError(f"expected that {what}")


def shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def show_value(value: Mapping[str, object]) -> str:
    """A line a name."""
    return "\n".join(f"    {name}: {json.dumps(each)}" for name, each in value.items())
