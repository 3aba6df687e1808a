"""Work in a ``with`` block, its lease renewed by a thread."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Final, Protocol, TypeVar

from session_store.domain.json_values import JsonValue
from session_store.in_process.lease import Lease
from session_store.in_process.work import BEGIN_AGAIN, NO_FAILURES, BlockOptions, failure_of, looks

PATIENCE: Final = 3.0
"""Seconds that the end of a block waits for a renewal under way; it does no harm later."""


class BlockingWork(Protocol):
    @property
    def lease(self) -> Lease: ...

    @property
    def finished(self) -> bool: ...

    @property
    def may_have_failed(self) -> bool: ...

    def check_settled(self) -> None: ...

    def fail(self, error: JsonValue) -> object: ...


WorkT = TypeVar("WorkT", bound=BlockingWork)


@contextmanager
def renewed(lease: Lease) -> Iterator[None]:
    """Renew the lease for as long as the block runs."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(lease.pause) and lease.renew():
            pass

    thread = threading.Thread(target=renew, name="session-store-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(PATIENCE)


@contextmanager
def held(
    begin: Callable[[], WorkT],
    options: BlockOptions,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[WorkT]:
    """Begin, hold, and judge how the block ended. What leaves it unexplained leaves the claim as it is.

    Raises:
        UnsettledError: the block ended well, and said nothing of the outcome.
    """
    work = _begun(begin, options.wait, sleep)
    with nullcontext() if work.finished else renewed(work.lease):
        try:
            yield work
        except options.failures as error:
            if work.may_have_failed and not isinstance(error, NO_FAILURES):
                work.fail(failure_of(error))
            raise
    work.check_settled()


def _begun(begin: Callable[[], WorkT], wait: float, sleep: Callable[[float], None]) -> WorkT:
    for pause in looks(wait):
        try:
            return begin()
        except BEGIN_AGAIN:
            sleep(pause)
    return begin()
