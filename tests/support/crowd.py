"""Many callers at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from tests.support.http import Api

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


def warm(api: Api, count: int) -> None:
    """Have ``count`` of the function's environments running, a few cold starts at a time.

    Each starts a process; all of them together would outlast the function's timeout on a small machine.
    """
    for crowd in range(STEP, count + STEP, STEP):
        statuses = at_once(min(crowd, count), lambda _: api.call("GET", "/health").status)
        assert set(statuses) == {200}
