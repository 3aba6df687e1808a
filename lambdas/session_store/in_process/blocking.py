"""Work in a ``with`` block, its lease renewed by a thread."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Final, Protocol, TypeVar

from session_store.domain.json_values import JsonValue
from session_store.in_process.lease import Lease
from session_store.in_process.work import RETRIED_BEGIN_ERRORS, BlockOptions, HeldWork, error_of, pauses

JOIN_SECONDS: Final = 3.0
"""How long the end of a block waits for a renewal in progress, which is harmless if it comes later."""


class BlockingWork(HeldWork, Protocol):
    def fail(self, error: JsonValue) -> object: ...


WorkT = TypeVar("WorkT", bound=BlockingWork)


@contextmanager
def renewing(lease: Lease) -> Iterator[None]:
    """Renew the lease for as long as the block runs."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(lease.pause) and lease.renew():
            pass

    thread = threading.Thread(target=renew, name="session-store-lease", daemon=True)
    try:
        # In here, because an interrupt that arrives while the thread starts leaves it running.
        thread.start()
        yield
    finally:
        over.set()
        if thread.is_alive():
            thread.join(JOIN_SECONDS)


@contextmanager
def hold(
    begin: Callable[[], WorkT],
    options: BlockOptions,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[WorkT]:
    """Begin the work, hold its lease, and record a failure of the block that ``options`` names.

    Any other exception leaves the claim as it is.

    Raises:
        UnsettledError: the block ended without an exception and without an outcome.
    """
    work = _begin(begin, options.wait, sleep)
    with nullcontext() if work.finished else renewing(work.lease):
        try:
            yield work
        except options.failures as error:
            if work.is_failed_by(error):
                work.fail(error_of(error))
            raise
    work.check_settled()


def _begin(begin: Callable[[], WorkT], wait: float, sleep: Callable[[float], None]) -> WorkT:
    for pause in pauses(wait):
        try:
            return begin()
        except RETRIED_BEGIN_ERRORS:
            sleep(pause)
    return begin()
