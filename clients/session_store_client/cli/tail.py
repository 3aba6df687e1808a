"""What comes to a session, as it comes: its transcript, its tool calls, its audit."""

import sys
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from session_store_client import child_calls
from session_store_client.answers import AuditEntry, Message, Page, ToolCall
from session_store_client.calls import Call, next_page
from session_store_client.cli.shown import as_json, printable
from session_store_client.client import Client
from session_store_client.errors import SessionNotFoundError

KINDS: Final = ("messages", "calls", "audit")
PAGE: Final = 100
SHOWN: Final = 400
"""Characters of a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    at: str
    kind: str
    told: str
    answer: object

    def as_text(self) -> str:
        text = printable(self.told)
        shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
        return f"{self.at}  {self.kind:<8}  {shown}"

    def as_json(self) -> str:
        return as_json({"kind": self.kind, "at": self.at, "item": self.answer})


@dataclass(slots=True, kw_only=True)
class Followed:
    """One list, read on from the page before its last known one.

    So what is sorted in among the last hundred items is seen too: an audit entry that comes late, a call that
    was recorded after one that began later.
    """

    first: Call[Page[Any]]
    key: Callable[[Any], Hashable]
    entry: Callable[[Any], Entry]
    _starts: list[Call[Page[Any]]] = field(default_factory=list)
    _seen: set[Hashable] = field(default_factory=set)

    def fresh(self, client: Client) -> list[Entry]:
        """What was not seen before."""
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
    """``kinds`` are some of ``KINDS``."""

    def __init__(self, session_id: str, *, kinds: Sequence[str], json: bool) -> None:
        self._lists = [_LISTS[kind](session_id) for kind in KINDS if kind in kinds]
        self._json = json

    def follow(self, client: Client, *, last: int, every: float, seconds: float) -> None:
        """Print the ``last`` entries, then what comes, for so many seconds or until the session is gone.

        Raises:
            SessionNotFoundError: there was no such session to begin with.
        """
        until = time.monotonic() + seconds
        entries = self._fresh(client)
        self._print(entries[len(entries) - last :] if last < len(entries) else entries)
        while time.monotonic() + every <= until:
            time.sleep(every)
            try:
                self._print(self._fresh(client))
            except SessionNotFoundError:
                print("the session is gone", file=sys.stderr)
                return

    def _fresh(self, client: Client) -> list[Entry]:
        return sorted(
            (entry for each in self._lists for entry in each.fresh(client)), key=lambda each: each.at
        )

    def _print(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            print(entry.as_json() if self._json else entry.as_text())
        sys.stdout.flush()


def _messages(session_id: str) -> Followed:
    def entry(message: Message) -> Entry:
        told = as_json(message.content)
        return Entry(at=message.appended_at, kind="message", told=told, answer=message)

    first = child_calls.list_messages(session_id, limit=PAGE)
    return Followed(first=first, key=lambda message: message.message_id, entry=entry)


def _calls(session_id: str) -> Followed:
    def entry(call: ToolCall) -> Entry:
        outcome = call.output if call.error is None else call.error
        told = f"{call.tool_name} {call.status} {as_json(call.input)} -> {as_json(outcome)}"
        return Entry(at=call.completed_at or call.started_at, kind="call", told=told, answer=call)

    first = child_calls.list_tool_calls(session_id, limit=PAGE)
    return Followed(first=first, key=lambda call: call.tool_call_id, entry=entry)


def _audit(session_id: str) -> Followed:
    def entry(entry: AuditEntry) -> Entry:
        paths = " ".join(f"{each.op} {each.path}" for each in entry.changes)
        told = f"{entry.event_name} by {entry.actor or '?'} {paths}".rstrip()
        return Entry(at=entry.at, kind="audit", told=told, answer=entry)

    def key(entry: AuditEntry) -> Hashable:
        return entry.at, entry.event_name, entry.sequence_number

    return Followed(first=child_calls.list_audit(session_id, limit=PAGE), key=key, entry=entry)


_LISTS: Final[dict[str, Callable[[str], Followed]]] = {
    "messages": _messages,
    "calls": _calls,
    "audit": _audit,
}
