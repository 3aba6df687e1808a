"""Many callers at the same moment."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeVar

from local.signed_http import Answer
from tests.support.calls import Calls, create

IN_FLIGHT: Final = 24
"""Calls that run at one moment; each takes an environment of the function, here a process to start."""
STEP: Final = 8
Result = TypeVar("Result")


def at_once(count: int, call: Callable[[int], Result]) -> list[Result]:
    """``call(0)`` to ``call(count - 1)``, each in a thread of its own, let go together."""
    start = threading.Barrier(count)

    def run(number: int) -> Result:
        start.wait(timeout=30)
        return call(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


@dataclass(frozen=True, slots=True)
class Gated:
    """A caller of many threads, of whose calls ``IN_FLIGHT`` run at one moment."""

    api: Calls
    _gate: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(IN_FLIGHT))

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        with self._gate:
            return self.api.call(method, path, body, headers)


def warm(api: Calls) -> None:
    """Have about ``IN_FLIGHT`` of the function's environments running, a few cold starts at a time.

    All of them together would outlast a caller's patience on a small machine. Every call keeps its
    environment busy long enough that the next one needs another.
    """
    path = f"/sessions/{create(api)['sessionId']}/context"
    body = {"messages": [{"content": number} for number in range(10)]}
    for crowd in range(STEP, IN_FLIGHT + 1, STEP):
        statuses = at_once(crowd, lambda _: api.call("POST", path, body).status)
        assert set(statuses) == {201}
