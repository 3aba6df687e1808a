"""Changes written to the deployed table past the API, and the records that its stream then has of them."""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from local.streams.backlog import drain
from local.streams.reader import READ_LIMIT
from local.streams.records import Record, sequence_number
from local.streams.source import ShardSource, Stream, shard_ends
from local.streams.swept import SweptRecords
from session_store.domain.session import Author, Session
from session_store.schema import Attribute, session_pk
from session_store.storage.dynamodb.session_items import session_item
from tests.support.emulator import LiveStack
from tests.support.raw_table import Item
from tests.support.samples import DAY, a_session

Image = Mapping[str, Any]
MOST_PAGES: Final = 100
SHARDS: Final = 4
MIDDLE: Final = 2
"""Of the sessions, counted from 0: whose change is not understood. The next one's is the nameless one."""

NAMELESS: Final = Author(principal="", request_id="request-nameless")
"""Nothing in the store is written by nobody, and nothing in its items forbids it."""


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Of ``sessions`` in turn, round by round; in the middle one that no version of the store writes, and,
    if ``nameless``, one of an author without a name right behind it.

    A round is one BatchWriteItem: DynamoDB keeps the order of the rounds of each session.
    """

    rounds: int
    nameless: bool
    sessions: tuple[Session, ...] = field(default_factory=lambda: tuple(_a_session() for _ in range(10)))

    def write(self, stack: LiveStack) -> None:
        dynamodb, table = stack.emulator.client("dynamodb"), stack.deployed.table_name
        for version in range(1, self.rounds + 1):
            puts = [{"PutRequest": {"Item": item}} for item in self._round(version)]
            left = dynamodb.batch_write_item(RequestItems={table: puts})["UnprocessedItems"]
            assert not left

    def _round(self, version: int) -> list[Item]:
        items = [session_item(_changed(session, version), shards=SHARDS) for session in self.sessions]
        if version == self.rounds // 2:
            items[MIDDLE] = _hologram(self.sessions[MIDDLE])
            if self.nameless:
                changed = replace(_changed(self.sessions[MIDDLE + 1], version), updated_by=NAMELESS)
                items[MIDDLE + 1] = session_item(changed, shards=SHARDS)
        return items


def _a_session() -> Session:
    """Lives on while the sweeper runs, and beyond the horizon of what looks for ends."""
    now = int(time.time())
    return a_session(ttl=now + DAY, max_expires_at=now + DAY)


def _changed(session: Session, version: int) -> Session:
    return replace(session, version=version, state={"step": version}, last_write=f"write-{version}")


def _hologram(session: Session) -> Item:
    return {
        Attribute.PK.value: {"S": session_pk(session.session_id)},
        Attribute.SK.value: {"S": f"strange#{secrets.token_hex(4)}"},
        Attribute.ENTITY.value: {"S": "hologram"},
        "beam": {"B": b"\x00\xff"},
    }


@dataclass(frozen=True, kw_only=True)
class Told:
    """What the stream has of ``changes``, in Lambda's form and in its order."""

    records: tuple[Record, ...]

    @property
    def strange(self) -> Record:
        return self._only(lambda image: image[Attribute.ENTITY]["S"] == "hologram")

    @property
    def nameless(self) -> Record:
        nobody = {"S": NAMELESS.principal}
        return self._only(lambda image: _author(image).get(Attribute.ACTOR) == nobody)

    def without(self, *left_out: Record) -> dict[str, list[tuple[str, int]]]:
        """Sequence number and version of each record, by partition."""
        found: dict[str, list[tuple[str, int]]] = {}
        for record in self.records:
            if record not in left_out:
                version = int(_image(record)[Attribute.VERSION]["N"])
                found.setdefault(_pk(record), []).append((sequence_number(record), version))
        return found

    def _only(self, fits: Callable[[Image], bool]) -> Record:
        (found,) = (record for record in self.records if fits(_image(record)))
        return found


def _image(record: Record) -> Image:
    image: Image = record["dynamodb"]["NewImage"]
    return image


def _author(image: Image) -> Image:
    author: Image = image.get(Attribute.UPDATED_BY, {"M": {}})["M"]
    return author


def _pk(record: Record) -> str:
    return str(record["dynamodb"]["Keys"][Attribute.PK]["S"])


def written(stack: LiveStack, changes: Changes, folder: Path) -> Told:
    """The changes, made now, as the stream tells them; others may write meanwhile."""
    table = stack.emulator.client("dynamodb").describe_table(TableName=stack.deployed.table_name)["Table"]
    stream = Stream(client=stack.emulator.client("dynamodbstreams"), arn=table["LatestStreamArn"])
    ((shard_id, end),) = shard_ends(stream).items()
    changes.write(stack)
    source = ShardSource(
        stream=stream,
        shard_id=shard_id,
        after=end.after,
        swept=SweptRecords(folder / "swept.jsonl"),
        say=print,
    )
    ours = {session_pk(session.session_id) for session in changes.sessions}
    records = drain(source, limit=READ_LIMIT, max_pages=MOST_PAGES)
    return Told(records=tuple(each for each in records if _pk(each) in ours))
