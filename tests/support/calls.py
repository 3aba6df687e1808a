"""What the end-to-end tests do with sessions over and over."""

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Protocol

from local.signed_http import Answer, Api
from session_store.domain.identifiers import MessageIds

SUBJECT: Final = "Session-Subject"
UNKNOWN_ID: Final = f"use1-{'a' * 32}"
"""Of the form that the store mints, but never minted."""

MOST_PAGES: Final = 200
SECONDS_TRIED: Final = 60
_MESSAGE_IDS: Final = MessageIds(random_bytes=secrets.token_bytes)
_WAY_TO: Final[Mapping[str, tuple[str, ...]]] = {
    "initializing": (),
    "active": ("active",),
    "closing": ("active", "closing"),
    "closed": ("active", "closing", "closed"),
}


class Calls(Protocol):
    """A caller of the API."""

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Acting:
    """A backend that acts for one end user."""

    api: Api
    subject: str

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        return self.api.call(method, path, body, {SUBJECT: self.subject, **(headers or {})})


def new_subject() -> str:
    """An end user whom no other test knows."""
    return f"user-{secrets.token_hex(8)}"


def create(api: Calls, body: object = None) -> dict[str, Any]:
    """A new session."""
    answer = api.call("POST", "/sessions", {} if body is None else body)
    assert answer.status == 201, answer.body
    session: dict[str, Any] = answer.json
    return session


def create_in(api: Calls, status: str, **body: object) -> str:
    """The id of a new session that went all the way to ``status``."""
    session_id: str = create(api, body)["sessionId"]
    for step in _WAY_TO[status]:
        assert move(api, session_id, step).status == 200
    return session_id


def move(api: Calls, session_id: str, to: str) -> Answer:
    return api.call("POST", f"/sessions/{session_id}/status", {"to": to})


def read(api: Calls, session_id: str) -> dict[str, Any]:
    answer = api.call("GET", f"/sessions/{session_id}")
    assert answer.status == 200, answer.body
    session: dict[str, Any] = answer.json
    return session


def append(api: Calls, session_id: str, *contents: object) -> list[dict[str, Any]]:
    """Messages with ids that the store mints."""
    body = {"messages": [{"content": content} for content in contents]}
    answer = api.call("POST", f"/sessions/{session_id}/context", body)
    assert answer.status == 201, answer.body
    items: list[dict[str, Any]] = answer.json["items"]
    return items


def tool_call(**changes: object) -> dict[str, Any]:
    """The body that records a call."""
    return {"toolName": "search", "input": {"q": "x"}, "output": {"hits": 3}, "durationMs": 12, **changes}


def running_call(tool_call_id: str, **changes: object) -> dict[str, Any]:
    """The body that begins a call."""
    return {"toolCallId": tool_call_id, "toolName": "pay", "input": {"n": 1}, **changes}


def message_id(*, seconds_off: int = 0) -> str:
    """A message id of now, greater than any before, or one of a time beside it."""
    minter = MessageIds(random_bytes=secrets.token_bytes) if seconds_off else _MESSAGE_IDS
    return minter.mint(time.time_ns() // 1_000_000 + seconds_off * 1000)


def pages(api: Calls, path: str) -> Iterator[Answer]:
    """The pages of a list by cursor to its end; ``path`` with its query."""
    joint = "&" if "?" in path else "?"
    cursor = ""
    for _ in range(MOST_PAGES):
        answer = api.call("GET", f"{path}{joint}cursor={cursor}" if cursor else path)
        assert answer.status == 200, answer.body
        yield answer
        following = answer.json["nextCursor"]
        if following is None:
            return
        cursor = following
    raise AssertionError(f"{path} did not end within {MOST_PAGES} pages")


def items(api: Calls, path: str) -> list[dict[str, Any]]:
    """A whole list."""
    return [item for page in pages(api, path) for item in page.json["items"]]


def ids(api: Calls, path: str) -> list[str]:
    """The ids of a list of sessions."""
    return [item["sessionId"] for item in items(api, path)]


def exact(body: bytes) -> Any:
    """JSON whose every number is the ``Decimal`` of its very text."""
    return json.loads(body, parse_float=Decimal, parse_int=Decimal)


def assert_problem(
    answer: Answer, status: int, slug: str, facts: Mapping[str, object] | None = None
) -> dict[str, Any]:
    """``answer`` is this problem, as RFC 9457 has it, with these facts among others."""
    assert answer.status == status, answer
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json
    assert problem["type"] == f"/problems/{slug}", problem
    assert problem["status"] == status, problem
    assert problem["title"]
    assert problem["detail"]
    assert problem["instance"]
    assert {name: problem.get(name) for name in facts or {}} == (facts or {}), problem
    return problem


def within_one_second(attempt: Callable[[int], bool]) -> None:
    """Try what depends on the second it happens in, given that second; True tells that it happened in it.

    A busy machine needs many tries, and no try that was too slow tells anything.
    """
    for _ in range(SECONDS_TRIED):
        now = int(time.time())
        time.sleep(max(0.0, now + 1.05 - time.time()))
        if attempt(now + 1):
            return
    raise AssertionError(f"{SECONDS_TRIED} tries, none within its second")
