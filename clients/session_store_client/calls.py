"""A call of the API as a value: what is sent, what comes back, and when it may be sent again."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote, urlencode

from session_store_client.answers import Page

AnswerT = TypeVar("AnswerT")
PageT = TypeVar("PageT", bound=Page[Any])

MIN_VERSION: Final = "session-min-version"
IF_MATCH: Final = "if-match"
LATEST: Final = "latest"
"""Stands in a path where a checkpoint's id may stand."""


class Repeat(Enum):
    """What sending a call again means where an earlier attempt may have been done.

    Where nothing was done (no connection, throttled), every call may be sent again.
    """

    FREELY = "it changes nothing, or the same again"
    RECOGNISED = "the store knows it again, by a key or by ids: it is done once"
    ADDED = "the store knows it again by its ids; it adds to a session without a condition on it"
    GUARDED = "it is done once, by its own condition; a refusal tells nothing of the earlier attempt"
    GONE = "what it makes go is gone for ever: not found is success"
    NEVER = "its answer would not tell what the earlier attempt did"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[AnswerT]):
    """``body`` is any JSON value, None for none. ``keyed``: an ``Idempotency-Key`` goes with it."""

    method: str
    path: str
    answer: type[AnswerT]
    repeat: Repeat
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = field(default=None, repr=False)
    keyed: bool = False

    @property
    def target(self) -> str:
        """Path and query, percent-encoded."""
        return f"{self.path}?{urlencode(self.query, quote_via=quote)}" if self.query else self.path


def next_page(call: "Call[PageT]", cursor: str) -> "Call[PageT]":
    """The call for the page after the one that named ``cursor``."""
    return replace(call, query={**call.query, "cursor": cursor})


def read(
    path: str,
    answer: type[AnswerT],
    *,
    query: Mapping[str, str] | None = None,
    min_version: int | None = None,
) -> Call[AnswerT]:
    headers = {} if min_version is None else {MIN_VERSION: str(min_version)}
    return Call(
        method="GET", path=path, answer=answer, query=query or {}, headers=headers, repeat=Repeat.FREELY
    )


def session_path(session_id: str) -> str:
    return f"/sessions/{_segment(session_id, 'session id')}"


def tool_call_path(session_id: str, tool_call_id: str) -> str:
    return f"{session_path(session_id)}/tool-calls/{_segment(tool_call_id, 'tool call id')}"


def claim_path(key: str) -> str:
    return f"/claims/{_segment(key, 'key')}"


def task_path(task_id: str) -> str:
    return f"/tasks/{_segment(task_id, 'task id')}"


def checkpoint_path(session_id: str, checkpoint_id: str) -> str:
    if checkpoint_id == LATEST:
        raise ValueError(f"{checkpoint_id!r} is no checkpoint id")
    return f"{session_path(session_id)}/checkpoints/{_segment(checkpoint_id, 'checkpoint id')}"


def latest_checkpoint_path(session_id: str) -> str:
    return f"{session_path(session_id)}/checkpoints/{LATEST}"


def _segment(value: str, what: str) -> str:
    """Encoded for a path. Empty or of dots it would make the path that of another operation."""
    if value in {"", ".", ".."}:
        raise ValueError(f"{value!r} is no {what}")
    return quote(value, safe="")


def if_match(version: int | None) -> dict[str, str]:
    return {} if version is None else {IF_MATCH: f'"{version}"'}


def given(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def parameters(**named: str | int | None) -> dict[str, str]:
    return {name: str(value) for name, value in named.items() if value is not None}
