"""Steps of the demo: each prints its call and a summary of the answer, and checks the answer."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar

import msgspec

from session_store_client import Client, SessionStoreError
from session_store_client.answers import (
    Answer,
    AppendedMessages,
    BegunToolCall,
    Checkpoint,
    ClaimedTasks,
    ExpiringSession,
    FinishedToolCall,
    Message,
    Page,
    Recovery,
    Session,
    Task,
    ToolCall,
)
from session_store_client.calls import Call
from session_store_client.cli.output import as_json

MAX_LINE: Final = 160
AnswerT = TypeVar("AnswerT")

_TITLE_NUMBERS: Final = itertools.count(1)
_PRINTED_FIELDS: Final[Mapping[type[Answer], tuple[str, ...]]] = {
    Session: ("status", "version", "state", "expires_at", "session_id"),
    ExpiringSession: ("expires_at", "status", "session_id"),
    FinishedToolCall: ("tool_call_id", "status", "output", "session"),
    BegunToolCall: ("tool_call_id", "status", "fence", "output"),
    ToolCall: ("tool_call_id", "status", "input", "output"),
    Message: ("message_id", "content"),
    Checkpoint: ("checkpoint_id", "data"),
    Task: ("task_id", "status", "payload", "result"),
    Recovery: ("in_flight", "outcome_unknown", "open_tasks", "checkpoint"),
}
"""What is printed of an answer; of any other, all of it. A class stands before its base class."""


class DemoError(RuntimeError):
    """An answer was not the expected one; the message shows it."""


def step(client: Client, call: Call[AnswerT]) -> AnswerT:
    """Send a call and print its answer.

    Raises:
        DemoError: the call is refused.
    """
    return show(call, lambda: client.send(call))


def show(call: Call[AnswerT], get_answer: Callable[[], AnswerT]) -> AnswerT:
    """As ``step``, with an answer that was fetched elsewhere."""
    print(f"     {call.method} {call.target}")
    try:
        answer = get_answer()
    except SessionStoreError as error:
        raise DemoError(f"{call.method} {call.target} was refused unexpectedly: {error}") from error
    for line in _summary(answer):
        print(f"       -> {shortened(line)}")
    return answer


def refused(client: Client, call: Call[AnswerT], kind: type[SessionStoreError]) -> None:
    """Send a call that must be refused as ``kind``, and print the refusal.

    Raises:
        DemoError: the call succeeds, or is refused for another reason.
    """
    print(f"     {call.method} {call.target}")
    try:
        answer: object = client.send(call)
    except kind as error:
        print(f"       -> refused: {error.status} {error.slug}: {error.detail}")
    except SessionStoreError as error:
        raise DemoError(f"{call.method} {call.target} was refused for another reason: {error}") from error
    else:
        raise DemoError(f"{call.method} {call.target} should have been refused, but succeeded: {answer}")


def title(text: str) -> None:
    print(f"\n{next(_TITLE_NUMBERS):>3}. {text}")


def expect(holds: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise DemoError(f"expected that {what}")


def shortened(text: str) -> str:
    return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}..."


def as_lines(value: Mapping[str, object]) -> str:
    """Format one member per line."""
    return "\n".join(f"       {name}: {json.dumps(member)}" for name, member in value.items())


def _summary(answer: object) -> Iterator[str]:
    if isinstance(answer, Page | AppendedMessages | ClaimedTasks):
        for item in answer.items:
            yield from _summary(item)
        if not answer.items:
            yield "no items"
    elif isinstance(answer, Answer):
        fields = next((names for kind, names in _PRINTED_FIELDS.items() if isinstance(answer, kind)), None)
        api_names = {field.name: field.encode_name for field in msgspec.structs.fields(answer)}
        yield "  ".join(
            f"{api_names[name]}: {as_json(getattr(answer, name))}" for name in fields or api_names
        )
    else:
        yield "done"
