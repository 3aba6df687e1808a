"""A session that is used for a while and then left alone, beside whatever else is tested."""

import threading
import time
from dataclasses import dataclass, field
from typing import Final

from local.signed_http import Answer
from tests.support.calls import Calls, create

IDLE_TIMEOUT: Final = 10
EVERY: Final = 5
TOUCHES: Final = 9
"""At 0, 5, ... 40 seconds."""
SILENCE: Final = 15
LONGEST: Final = 90


@dataclass(frozen=True, slots=True)
class IdleSession:
    """Lives in a thread of its own from ``start`` on, for about a minute."""

    api: Calls
    session_id: str
    _touches: list[Answer] = field(default_factory=list)
    _last_read: list[Answer] = field(default_factory=list)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    @classmethod
    def start(cls, api: Calls) -> "IdleSession":
        idle = cls(api, create(api, {"idleTimeout": IDLE_TIMEOUT})["sessionId"])
        thread = threading.Thread(target=idle._live, name="idle session", daemon=True)
        idle._threads.append(thread)
        thread.start()
        return idle

    def stop(self) -> None:
        self._stopped.set()
        self._join()

    def result(self) -> tuple[list[Answer], Answer]:
        """What the touches answered, and what the read after the silence did; awaited."""
        self._join()
        (last_read,) = self._last_read
        return self._touches, last_read

    def _join(self) -> None:
        for thread in self._threads:
            thread.join(LONGEST)

    def _live(self) -> None:
        began = time.monotonic()
        for number in range(TOUCHES):
            if self._stopped.wait(began + number * EVERY - time.monotonic()):
                return
            self._touches.append(self.api.call("POST", f"/sessions/{self.session_id}/touch"))
        if not self._stopped.wait(SILENCE):
            self._last_read.append(self.api.call("GET", f"/sessions/{self.session_id}"))
