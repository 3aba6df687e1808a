"""Processes that work on the same tables, each with a client of its own, which may have a bad day."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.page import PageRequest
from session_store.errors import StoreError
from session_store.ports import Storage
from session_store.schema import session_pk
from session_store.services.new_sessions import NewSession
from session_store.settings import Settings
from session_store.store import Store, store_on
from tests.support.api import Answer, StoreApi
from tests.support.samples import ALICE
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

ENTIRE: Final = {
    "output": "done",
    "state": {"increment": {"n": 1}},
    "messages": [{"content": "of the call"}],
    "status": {"to": "closing"},
}
"""All that a completion may change."""

Effects = tuple[int, int, list[Any], int, str]


class CrashError(BaseException):
    """Nobody catches it: the process has ended."""


class Worker:
    """One process with a client of its own, over the same tables."""

    def __init__(self, client: "DynamoDBClient", tables: Settings, clock: SettableClock) -> None:
        self.client = client
        self.clock = clock
        self.storage: Storage = dynamodb_storage(tables, client, Deadline())
        self.store: Store = store_on(self.storage, tables, clock=clock)
        self.api = StoreApi(self.store)

    def open(self) -> str:
        session_id = self.api.open(state={"n": 0})
        self.api.call("POST", f"/sessions/{session_id}/status", {"to": "active"})
        return session_id

    def begin(self, session_id: str, call_id: str = "c1", **changes: Any) -> Answer:
        body = {"toolCallId": call_id, "toolName": "pay", "input": {"n": 1}, **changes}
        return self.api.call("POST", f"/sessions/{session_id}/tool-calls", body)

    def complete(self, session_id: str, fence: int, **changes: Any) -> Answer:
        path = f"/sessions/{session_id}/tool-calls/c1/complete"
        return self.api.call("POST", path, {"fence": fence, **ENTIRE, **changes})

    def effects(self, session_id: str) -> Effects:
        """Records, events of the end, messages, increments, status."""
        page: PageRequest[Any] = PageRequest(limit=50)
        session = self.storage.sessions.read(session_id)
        assert session is not None
        events = self.storage.audit.page(session_pk(session_id), page).items
        messages = self.storage.messages.page(session_id, page).items
        return (
            len(self.storage.tool_calls.page(session_id, page).items),
            len([event for event in events if event.event_name == "ToolCallCompleted"]),
            [message.content for message in messages],
            int(str(session.state["n"])),
            session.status.value,
        )


def session_of(worker: Worker) -> str:
    """Alice's."""
    new = NewSession(idle_timeout=3600, max_lifetime=86_400, state={}, protocol={}, credential_refs=())
    return worker.store.sessions.create(ALICE, new).session_id


def attempted(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except StoreError as error:
        return error
