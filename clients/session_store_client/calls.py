"""An API call as a value: what is sent, the type of its answer, and when it may be sent again."""

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
"""In a path, the newest checkpoint; no checkpoint has this id."""


class Repeat(Enum):
    """What it means to send a call again after an attempt that may have taken effect.

    After an attempt without effect (no connection, throttled) every call is sent again.
    """

    IDEMPOTENT = "repeating it changes nothing more"
    RECOGNISED = "the store recognises it by a key, an id or an outcome, before any other check"
    RECOGNISED_APPEND = "the store recognises it by its ids, but a session closed meanwhile refuses it"
    CONDITIONAL = "its condition lets it happen once; a refusal may be caused by the earlier attempt"
    RECONCILIATION = "as CONDITIONAL; in progress ends it, because it reports on an attempt that has ended"
    DELETION = "it deletes for good: not found is success"
    NEVER = "it is not sent again: its answer would not tell what the earlier attempt did"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[AnswerT]):
    """``body`` is a JSON value, None for no body. ``keyed``: sent with an ``Idempotency-Key``."""

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
    """Return the call for the page at ``cursor``."""
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
        method="GET", path=path, answer=answer, query=query or {}, headers=headers, repeat=Repeat.IDEMPOTENT
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
        raise ValueError(f"{checkpoint_id!r} is not a checkpoint id")
    return f"{session_path(session_id)}/checkpoints/{_segment(checkpoint_id, 'checkpoint id')}"


def latest_checkpoint_path(session_id: str) -> str:
    return f"{session_path(session_id)}/checkpoints/{LATEST}"


def _segment(value: str, what: str) -> str:
    """Percent-encode a path segment. An empty one, or one of dots, would address another operation."""
    if value in {"", ".", ".."}:
        raise ValueError(f"{value!r} is not a {what}")
    return quote(value, safe="")


def if_match(version: int | None) -> dict[str, str]:
    return {} if version is None else {IF_MATCH: f'"{version}"'}


def given(**members: object) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def parameters(**named: str | int | None) -> dict[str, str]:
    return {name: str(value) for name, value in named.items() if value is not None}
