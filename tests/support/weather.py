"""What interleaved clients play on, and what goes wrong there."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from session_store.ports import Storage
from session_store.store import Store
from tests.support.world import SettableClock


class Loss(Enum):
    """Of an answer: the store may send the write again, or has no time left to."""

    EARLY = auto()
    LATE = auto()


@dataclass(kw_only=True)
class Weather:
    """``lose()``: the next write that is done loses its answer. ``clear()``: no longer; whether one did."""

    lose: Callable[[Loss], None]
    clear: Callable[[], bool]


@dataclass(kw_only=True)
class Stage:
    """A store of its own, the clock that it goes by, and its weather."""

    storage: Storage
    store: Store
    clock: SettableClock
    weather: Weather
