"""What the deployed stack does behind the caller's back: streams delivered, expired items deleted."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from local.delivery import delivering
from local.streams.mapping import EventSourceMapping
from local.streams.positions import Positions
from local.streams.runner import Intervals
from local.streams.source import Stream, shard_ends
from session_store.schema import Attribute
from tests.support.emulator import LiveStack

PATIENCE: Final = 120.0
"""Seconds; what is waited for takes two or three on a quiet machine."""

POLL: Final = 0.1
POSITIONS: Final = "streams/positions.json"
"""In the emulator's state: how far each mapping has read."""

INTERVALS: Final = Intervals(shards=0.5, sweep=0.5, restart=0.2)


@contextmanager
def delivered(stack: LiveStack) -> Iterator[LiveStack]:
    """``stack``, as ``make run`` has it, while the block runs.

    What was written before is delivered before: nothing in the block waits for what others wrote.
    """
    tables = (stack.deployed.table_name, stack.deployed.audit_table_name)
    with delivering(
        stack.emulator, ttl_tables=tables, ttl_attribute=Attribute.TTL.value, say=print, intervals=INTERVALS
    ) as mappings:
        assert mappings, "nothing of what is deployed reads a stream"
        for mapping in mappings:
            _catch_up(stack, mapping)
        yield stack


def _catch_up(stack: LiveStack, mapping: EventSourceMapping) -> None:
    """However much there is to be delivered: only what does not move on is given up."""
    client = stack.emulator.client("dynamodbstreams")
    stream = Stream(client=client, arn=mapping.stream_arn)
    wanted = {shard: int(end.after or 0) for shard, end in shard_ends(stream).items()}
    read: dict[str, int] = {}

    def has_moved() -> bool:
        before = dict(read)
        kept = Positions(stack.emulator.state / POSITIONS).of(f"{mapping.name} {mapping.stream_arn}")
        read.update({shard: int(position.after or 0) for shard, position in kept.items()})
        return read != before

    while any(read.get(shard, 0) < end for shard, end in wanted.items()):
        assert eventually(has_moved), f"{mapping.name} stands still at {read} of {wanted}"


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether it holds before patience ends."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(POLL)
    return False
