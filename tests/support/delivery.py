"""What the deployed stack does behind the caller's back: streams delivered, expired items deleted."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from local.delivery import delivering
from local.streams.runner import Intervals
from session_store.schema import Attribute
from tests.support.emulator import LiveStack

PATIENCE: Final = 120.0
"""Seconds; what is waited for takes two or three on a quiet machine."""

POLL: Final = 0.1
INTERVALS: Final = Intervals(shards=0.5, sweep=0.5, restart=0.2)


@contextmanager
def delivered(stack: LiveStack) -> Iterator[LiveStack]:
    """``stack``, as ``make run`` has it, while the block runs."""
    tables = (stack.deployed.table_name, stack.deployed.audit_table_name)
    with delivering(
        stack.emulator, ttl_tables=tables, ttl_attribute=Attribute.TTL.value, say=print, intervals=INTERVALS
    ) as mappings:
        assert mappings, "nothing of what is deployed reads a stream"
        yield stack


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it holds before patience ends."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(POLL)
    return False
