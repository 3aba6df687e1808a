"""A session that is used for a while and then left alone, beside whatever else is tested."""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from local.signed_http import Answer
from tests.support.calls import Calls, create

IDLE_TIMEOUT: Final = 10
EVERY: Final = 5
TOUCHES: Final = 9
"""At 0, 5, ... 40 seconds."""
SILENCE: Final = 15
IN_USE: Final = 0.9 * IDLE_TIMEOUT - 1
"""Seconds that a session lives after a use at the least: ends lie on whole seconds."""

LIVES: Final = 5
LONGEST: Final = LIVES * 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """``began`` and ``ended`` in seconds of one clock: the use was in between."""

    began: float
    ended: float
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What the touches answered, and what the read after the silence did."""

    touches: Sequence[Touch]
    last_read: Answer


@dataclass(slots=True)
class IdleSession:
    """Lives in a thread of its own from ``start`` on, for about a minute.

    A machine that is too busy for a touch every so often shows nothing of a session in use: then another
    session is lived.
    """

    api: Calls
    clock: Callable[[], float] = time.monotonic
    _life: Life | None = None
    _stopped: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    @classmethod
    def start(cls, api: Calls) -> "IdleSession":
        idle = cls(api)
        thread = threading.Thread(target=idle._live, name="idle session", daemon=True)
        idle._threads.append(thread)
        thread.start()
        return idle

    def stop(self) -> None:
        self._stopped.set()
        self._join()

    def result(self) -> Life:
        """Awaited."""
        self._join()
        assert self._life is not None, f"of {LIVES} sessions none was in use all the while"
        return self._life

    def _join(self) -> None:
        for thread in self._threads:
            thread.join(LONGEST)

    def _live(self) -> None:
        for _ in range(LIVES):
            with contextlib.suppress(TimeoutError):
                self._life = self._lived()
            if self._life is not None or self._stopped.is_set():
                return

    def _lived(self) -> Life | None:
        born = self.clock()
        path = f"/sessions/{create(self.api, {'idleTimeout': IDLE_TIMEOUT})['sessionId']}"
        touches = self._touched(path, born)
        if not touches or self._stopped.wait(SILENCE):
            return None
        return Life(touches=touches, last_read=self.api.call("GET", path))

    def _touched(self, path: str, used: float) -> Sequence[Touch]:
        """Empty where one came later than a session that is in use may be left alone, or all is to stop."""
        touches: list[Touch] = []
        first = self.clock()
        for number in range(TOUCHES):
            if self._stopped.wait(max(0.0, first + number * EVERY - self.clock())):
                return ()
            began = self.clock()
            answer = self.api.call("POST", f"{path}/touch")
            touches.append(Touch(began=began, ended=self.clock(), answer=answer))
            if touches[-1].ended - used > IN_USE:
                return ()
            used = began
        return touches
