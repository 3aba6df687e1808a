"""Many callers at the same moment."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import CREATED
from typing import Final, TypeVar

from tests.support.calls import Calls, create

WARMING: Final = range(8, 65, 8)
"""Callers at one moment; each takes an environment of the function, here a process to start."""

TRIES: Final = 3

Result = TypeVar("Result")


def at_once(count: int, call: Callable[[int], Result]) -> list[Result]:
    """``call(0)`` to ``call(count - 1)``, each in a thread of its own, let go together."""
    start = threading.Barrier(count)

    def run(number: int) -> Result:
        start.wait(timeout=120)
        return call(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def warm(api: Calls) -> None:
    """Have an environment of the function run for every caller to come, a few cold starts at a time.

    All of them together would outlast a caller's patience on a small machine, and so may a step
    that shares it with something else: then it is taken again. What comes of a call is not judged here.
    Every call keeps its environment busy long enough that the next one needs another.
    """
    path = f"/sessions/{create(api)['sessionId']}/context"
    body = {"messages": [{"content": number} for number in range(10)]}

    def is_served(_: int) -> bool:
        try:
            return api.call("POST", path, body).status == CREATED
        except TimeoutError:
            return False

    for crowd in WARMING:
        for _ in range(TRIES):
            if all(at_once(crowd, is_served)):
                break
