"""Follow a session: print its messages, tool calls and audit entries as they appear."""

import sys
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from session_store_client import message_calls, session_calls, tool_call_calls
from session_store_client.answers import AuditEntry, Message, Page, ToolCall
from session_store_client.calls import Call, next_page
from session_store_client.cli.output import as_json, printable
from session_store_client.client import Client
from session_store_client.errors import SessionNotFoundError

KINDS: Final = ("messages", "calls", "audit")
PAGE: Final = 100
MAX_LINE: Final = 400
"""Characters of a printed text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TailEntry:
    at: str
    kind: str
    text: str
    answer: object

    def as_text(self) -> str:
        text = printable(self.text)
        shortened = text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}…"
        return f"{self.at}  {self.kind:<8}  {shortened}"

    def as_json(self) -> str:
        return as_json({"kind": self.kind, "at": self.at, "item": self.answer})


@dataclass(slots=True, kw_only=True)
class FollowedList:
    """A list polled for new items, each time from the page before the last one known.

    That finds items that are sorted in among the last hundred: an audit entry that arrives late, a tool call
    recorded after one that started later.
    """

    first: Call[Page[Any]]
    key: Callable[[Any], Hashable]
    entry: Callable[[Any], TailEntry]
    _starts: list[Call[Page[Any]]] = field(default_factory=list)
    _seen: set[Hashable] = field(default_factory=set)

    def poll(self, client: Client) -> list[TailEntry]:
        """Return the entries that no earlier poll returned."""
        starts = [self._starts[0] if self._starts else self.first]
        items: list[Any] = []
        while True:
            page = client.send(starts[-1])
            items += page.items
            if page.next_cursor is None:
                break
            starts.append(next_page(starts[-1], page.next_cursor))
        fresh = [item for item in items if self.key(item) not in self._seen]
        self._starts, self._seen = starts[-2:], {self.key(item) for item in items}
        return [self.entry(item) for item in fresh]


class Tail:
    """Follows one session. ``kinds`` is a selection of ``KINDS``."""

    def __init__(self, session_id: str, *, kinds: Sequence[str], json: bool) -> None:
        self._lists = [_LISTS[kind](session_id) for kind in KINDS if kind in kinds]
        self._json = json

    def follow(self, client: Client, *, last: int, every: float, seconds: float) -> None:
        """Print the ``last`` entries, then new ones, for ``seconds`` or until the session is gone.

        Polls every ``every`` seconds.

        Raises:
            SessionNotFoundError: at the first poll.
        """
        until = time.monotonic() + seconds
        entries = self._poll(client)
        self._print(entries[len(entries) - last :] if last < len(entries) else entries)
        while time.monotonic() + every <= until:
            time.sleep(every)
            try:
                self._print(self._poll(client))
            except SessionNotFoundError:
                print("the session is gone", file=sys.stderr)
                return

    def _poll(self, client: Client) -> list[TailEntry]:
        return sorted(
            (entry for each in self._lists for entry in each.poll(client)), key=lambda each: each.at
        )

    def _print(self, entries: Sequence[TailEntry]) -> None:
        for entry in entries:
            print(entry.as_json() if self._json else entry.as_text())
        sys.stdout.flush()


def _messages(session_id: str) -> FollowedList:
    def entry(message: Message) -> TailEntry:
        text = as_json(message.content)
        return TailEntry(at=message.appended_at, kind="message", text=text, answer=message)

    first = message_calls.list_messages(session_id, limit=PAGE)
    return FollowedList(first=first, key=lambda message: message.message_id, entry=entry)


def _calls(session_id: str) -> FollowedList:
    def entry(call: ToolCall) -> TailEntry:
        outcome = call.output if call.error is None else call.error
        text = f"{call.tool_name} {call.status} {as_json(call.input)} -> {as_json(outcome)}"
        return TailEntry(at=call.completed_at or call.started_at, kind="call", text=text, answer=call)

    first = tool_call_calls.list_tool_calls(session_id, limit=PAGE)
    return FollowedList(first=first, key=lambda call: call.tool_call_id, entry=entry)


def _audit(session_id: str) -> FollowedList:
    def entry(entry: AuditEntry) -> TailEntry:
        paths = " ".join(f"{each.op} {each.path}" for each in entry.changes)
        text = f"{entry.event_name} by {entry.actor or '?'} {paths}".rstrip()
        return TailEntry(at=entry.at, kind="audit", text=text, answer=entry)

    def key(entry: AuditEntry) -> Hashable:
        return entry.at, entry.event_name, entry.sequence_number

    return FollowedList(first=session_calls.list_audit(session_id, limit=PAGE), key=key, entry=entry)


_LISTS: Final[dict[str, Callable[[str], FollowedList]]] = {
    "messages": _messages,
    "calls": _calls,
    "audit": _audit,
}
