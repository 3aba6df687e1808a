"""The sweeper deletes expired items in bounded steps and notes the record of each deletion."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from local.emulator import Emulator
from local.streams.source import Stream
from local.streams.sweeper import MAX_AGE_SECONDS, Sweeper
from local.streams.swept import SweptRecords

NOW = 1_800_000_000.5


@pytest.fixture(params=[True, False], ids=["with a stream", "without a stream"])
def table(emulator: Emulator, request: pytest.FixtureRequest) -> Iterator[str]:
    dynamodb = emulator.client("dynamodb")
    name = f"swept-{secrets.token_hex(4)}"
    stream = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}
    dynamodb.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
        **(stream if request.param else {}),
    )
    yield name
    dynamodb.delete_table(TableName=name)


class World:
    def __init__(self, emulator: Emulator, table: str, folder: Path) -> None:
        self.dynamodb = emulator.client("dynamodb")
        self.streams = emulator.client("dynamodbstreams")
        self.table = table
        self.swept = SweptRecords(folder / "swept.jsonl")
        self.said: list[str] = []

    def put(self, pk: str, ttl: float | str | None) -> None:
        kind = "S" if isinstance(ttl, str) else "N"
        item = {"pk": {"S": pk}, **({} if ttl is None else {"ttl": {kind: str(ttl)}})}
        self.dynamodb.put_item(TableName=self.table, Item=item)

    def sweeper(self, **changes: Any) -> Sweeper:
        parts = {"dynamodb": self.dynamodb, "streams": self.streams, "table": self.table, "swept": self.swept}
        return Sweeper(
            **{**parts, "attribute": "ttl", "say": self.said.append, "now": lambda: NOW, **changes}
        )

    @property
    def left(self) -> list[str]:
        return sorted(item["pk"]["S"] for item in self.dynamodb.scan(TableName=self.table)["Items"])

    @property
    def noted(self) -> list[str]:
        """Keys of the removals that are noted, in the stream's order."""
        arn = self.dynamodb.describe_table(TableName=self.table)["Table"].get("LatestStreamArn")
        if arn is None:
            return []
        stream = Stream(client=self.streams, arn=arn)
        (shard,) = stream.shards()
        page = self.streams.get_records(ShardIterator=stream.iterator(shard.shard_id, "TRIM_HORIZON"))
        return [
            record["dynamodb"]["Keys"]["pk"]["S"]
            for record in page["Records"]
            if self.swept.holds(arn, record["dynamodb"]["SequenceNumber"])
        ]


@pytest.fixture
def world(emulator: Emulator, table: str, tmp_path: Path) -> World:
    return World(emulator, table, tmp_path)


def test_expired_items_are_deleted_and_no_others(world: World, request: pytest.FixtureRequest) -> None:
    seconds = int(NOW)
    world.put("expired", seconds - 1)
    world.put("fraction", seconds - 0.5)
    world.put("now", seconds)
    world.put("alive", seconds + 1)
    world.put("five years past", seconds - MAX_AGE_SECONDS)
    world.put("just within five years", seconds - MAX_AGE_SECONDS + 1)
    world.put("worded", str(seconds - 1))
    world.put("without", None)
    assert world.sweeper().sweep() == 3
    assert world.left == ["alive", "five years past", "now", "without", "worded"]
    assert sorted(world.noted) in ([], ["expired", "fraction", "just within five years"])
    assert bool(world.noted) == ("with a stream" in request.node.name)
    assert world.said == []


def test_a_sweep_looks_at_so_many_pages_and_the_next_goes_on(world: World) -> None:
    for number in range(10):
        world.put(f"item-{number}", int(NOW) - 1)
    sweeper = world.sweeper(page_size=2, max_pages=2)
    assert [sweeper.sweep() for _ in range(3)] == [4, 4, 2]
    assert world.left == []


def test_an_item_that_lives_again_by_then_is_left(world: World) -> None:
    world.put("touched", int(NOW) - 1)

    class Touching:
        """Between a scan and the deletion the item's window is moved on."""

        def __getattr__(self, name: str) -> Any:
            if name == "delete_item":
                world.put("touched", int(NOW) + 60)
            return getattr(world.dynamodb, name)

    assert world.sweeper(dynamodb=Touching()).sweep() == 0
    assert world.left == ["touched"]
    assert world.noted == []
