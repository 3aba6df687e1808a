"""A store in memory whose time and ids the test holds in its hand."""

import base64
from dataclasses import dataclass, field
from typing import Any

from session_store.domain.caller import Caller
from session_store.domain.identifiers import MessageIds, region_code
from session_store.domain.session import Session, Status
from session_store.domain.slide import Slide
from session_store.ports import Storage
from session_store.services.new_sessions import NewSession
from session_store.storage.memory.audit import MemoryAudit
from session_store.storage.memory.checkpoints import MemoryCheckpoints
from session_store.storage.memory.children import MemoryChildren
from session_store.storage.memory.claims import MemoryClaims, MemoryToolCalls
from session_store.storage.memory.heartbeats import MemoryHeartbeats
from session_store.storage.memory.keyed_sessions import MemoryKeyedSessions
from session_store.storage.memory.messages import MemoryMessages
from session_store.storage.memory.sessions import MemorySessions
from session_store.storage.memory.state import Memory
from session_store.storage.memory.surroundings import MemoryPayloads
from session_store.storage.memory.tasks import MemoryKeyedTasks, MemoryTasks
from session_store.store import Store, store_on
from tests.support.samples import ALICE, DAY, NOW_MS, REGION, settings


class SettableClock:
    def __init__(self, now_ms: int = NOW_MS) -> None:
        self.now = now_ms

    def now_ms(self) -> int:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += round(seconds * 1000)


class CountingIds:
    """The first id ends in 1, the second in 2, and so on."""

    def __init__(self) -> None:
        self._minted = 0
        self._messages = MessageIds(random_bytes=self._bytes)

    def _bytes(self, length: int) -> bytes:
        self._minted += 1
        return self._minted.to_bytes(length)

    def session_id(self, region: str) -> str:
        return f"{region_code(region)}-{base64.b32encode(self._bytes(20)).decode().lower()}"

    def task_id(self, region: str) -> str:
        return self.session_id(region)

    def message_id(self, now_ms: int, *, after: str | None = None) -> str:
        return self._messages.mint(now_ms, after=after)

    def operation_id(self) -> str:
        return f"operation-{int.from_bytes(self._bytes(8))}"


@dataclass(frozen=True, kw_only=True)
class WatchedSessions(MemorySessions):
    """Remembers the slides that it was asked for."""

    asked: list[Slide] = field(default_factory=list)

    def slide(self, slide: Slide) -> Session | None:
        self.asked.append(slide)
        return MemorySessions.slide(self, slide)


class World:
    """``memory`` is the raw table, ``bucket`` has what is too large for it.

    ``slides`` are those that the use cases asked for.
    """

    def __init__(self, *, region: str = REGION, bucket: bool = True) -> None:
        self.clock = SettableClock()
        self.ids = CountingIds()
        self.memory = Memory()
        self.sessions = WatchedSessions(memory=self.memory)
        self.bucket = MemoryPayloads() if bucket else None
        self.store = self.seen_from(region)

    @property
    def slides(self) -> list[Slide]:
        return self.sessions.asked

    def seen_from(self, region: str, **changes: Any) -> Store:
        """The use cases as another region's function has them, over the same memory."""
        tasks = MemoryTasks(memory=self.memory)
        storage = Storage(
            sessions=self.sessions,
            keyed_sessions=MemoryKeyedSessions(memory=self.memory, sessions=self.sessions),
            messages=MemoryMessages(memory=self.memory),
            checkpoints=MemoryCheckpoints(memory=self.memory),
            tool_calls=MemoryToolCalls(memory=self.memory, sessions=self.sessions),
            claims=MemoryClaims(memory=self.memory),
            tasks=tasks,
            keyed_tasks=MemoryKeyedTasks(memory=self.memory, tasks=tasks),
            audit=MemoryAudit(memory=self.memory),
            children=MemoryChildren(memory=self.memory),
            heartbeats=MemoryHeartbeats(memory=self.memory),
        )
        bucket = self.bucket
        return store_on(
            storage,
            settings(region=region, **changes),
            clock=self.clock,
            ids=self.ids,
            payloads=None if bucket is None else lambda: bucket,
        )

    def open(
        self,
        *,
        status: Status = Status.ACTIVE,
        idle_timeout: int = 3600,
        max_lifetime: int = 30 * DAY,
        state: dict[str, Any] | None = None,
        caller: Caller = ALICE,
    ) -> Session:
        """A session moved through the use cases to ``status``."""
        new = NewSession(
            idle_timeout=idle_timeout,
            max_lifetime=max_lifetime,
            state=state or {},
            protocol={},
            credential_refs=(),
        )
        session = self.store.sessions.create(caller, new)
        if status is Status.INITIALIZING:
            return session
        for step in (Status.ACTIVE, Status.CLOSING, Status.CLOSED):
            session = self.store.sessions.move(caller, session.session_id, step)
            if step is status:
                break
        return session

    def stored(self, session_id: str) -> Session:
        return self.memory.sessions[session_id]
