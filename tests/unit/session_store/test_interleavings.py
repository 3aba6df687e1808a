"""Interleaved clients on the store in memory, where every write may lose its response."""

from collections import Counter
from typing import Any

from hypothesis import settings as profile
from msgspec.structs import replace

from session_store.errors import OutcomeUnknownError
from session_store.storage.memory.storage import memory_storage
from session_store.store import store_on
from tests.support.child_interleavings import Interleavings
from tests.support.samples import settings
from tests.support.weather import Loss, Stage, Weather
from tests.support.world import SettableClock

PORTS = ("sessions", "keyed_sessions", "messages", "checkpoints", "tool_calls")
WRITES = {"create", "write", "slide", "delete", "put", "put_all", "put_under_key", "record"}


class Losing:
    """A port whose writes are done, but raise as if the response was lost while ``armed``."""

    def __init__(self, port: Any, armed: Counter[str]) -> None:
        self._port = port
        self._armed = armed

    def __getattr__(self, name: str) -> Any:
        done = getattr(self._port, name)
        if name not in WRITES:
            return done

        def lossy(*arguments: Any, **named: Any) -> Any:
            answer = done(*arguments, **named)
            if self._armed["next"]:
                self._armed.update({"next": -1, "lost": 1})
                raise OutcomeUnknownError
            return answer

        return lossy


def in_memory() -> Stage:
    storage = memory_storage()
    armed: Counter[str] = Counter()

    def lose(_: Loss) -> None:
        armed["next"] = 1

    def clear() -> bool:
        was_lost = bool(armed["lost"])
        armed.clear()
        return was_lost

    ports: dict[str, Any] = {name: Losing(getattr(storage, name), armed) for name in PORTS}
    clock = SettableClock()
    store = store_on(replace(storage, **ports), settings(), clock=clock)
    return Stage(storage=storage, store=store, clock=clock, weather=Weather(lose=lose, clear=clear))


class InMemory(Interleavings):
    opened = staticmethod(in_memory)


TestInterleavings = InMemory.TestCase
TestInterleavings.settings = profile(max_examples=80, stateful_step_count=30)
