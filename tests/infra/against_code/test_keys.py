"""Keys, indexes and expiry: what the code writes and asks for is what the tables have."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from session_store.schema import (
    DUE_INDEX,
    INDEXES,
    OPEN_INDEX,
    OWNER_INDEX,
    QUEUE_INDEX,
    STATUS_TTL_INDEX,
    Attribute,
    Entity,
    Env,
)
from tests.infra.against_code.conftest import Driven, packages, variables
from tests.infra.conftest import Synthesized
from tests.support.aws_calls import AwsCall, AwsCalls
from tests.support.driven import DRIVES
from tests.support.ground import Ground

LONGEST = 11 * 366 * 86_400
"""Seconds that the store keeps anything, at most: ten years of audit."""

LASTING = {Entity.HEARTBEAT}
"""One item a region, which is put over itself."""

INDEXED = {
    STATUS_TTL_INDEX.name: Entity.SESSION,
    OWNER_INDEX.name: Entity.SESSION,
    QUEUE_INDEX.name: Entity.TASK,
    OPEN_INDEX.name: Entity.TASK,
    DUE_INDEX.name: Entity.TASK,
}
"""What each index is of: an item has all the keys of one, or it is not in it."""

OPEN_ENDED = {Entity.TASK}
"""It has an end only when it is over."""

Item = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def calls(dev: Synthesized, drive: Driven) -> list[AwsCalls]:
    """Of all functions."""
    return [drive(dev, package) for package in packages(dev, region="us-east-1")]


@pytest.fixture(scope="module")
def tables(dev: Synthesized, ground: Ground) -> Mapping[str, Mapping[str, Any]]:
    """What the template says of each table, by its name in the emulator."""
    names = variables(dev.function("session_api"))
    return {
        ground.stands_for[variable]: dev.table(names[variable])
        for variable in (Env.TABLE_NAME, Env.AUDIT_TABLE_NAME)
    }


def written(calls: list[AwsCalls]) -> Iterator[tuple[str, Item]]:
    """Table and item of every item that was put."""
    for call in made(calls):
        if call.operation == "PutItem":
            yield call.parameters["TableName"], call.parameters["Item"]
        for item in call.parameters.get("TransactItems", ()):
            if "Put" in item:
                yield item["Put"]["TableName"], item["Put"]["Item"]


def made(calls: list[AwsCalls]) -> Iterator[AwsCall]:
    for each in calls:
        yield from each.made


def types(table: Mapping[str, Any]) -> dict[str, str]:
    return {each["AttributeName"]: each["AttributeType"] for each in table["AttributeDefinitions"]}


def test_every_item_has_the_keys_of_its_table_and_of_its_indexes_in_their_types(
    calls: list[AwsCalls], tables: Mapping[str, Mapping[str, Any]]
) -> None:
    for name, item in written(calls):
        table = tables[name]
        keys = {each["AttributeName"] for each in table["KeySchema"]}
        assert keys <= set(item), item
        wrong = {
            key: item[key] for key, kind in types(table).items() if key in item and kind not in item[key]
        }
        assert wrong == {}


def test_each_kind_of_item_is_in_the_indexes_that_are_for_it_and_in_no_other(
    calls: list[AwsCalls], tables: Mapping[str, Mapping[str, Any]]
) -> None:
    found: dict[str, set[str]] = {name: set() for name in indexes(tables)}
    for _, item in written(calls):
        for name, index in indexes(tables).items():
            if {key["AttributeName"] for key in index["KeySchema"]} <= set(item):
                found[name].add(item["entity"]["S"])
    assert found == {name: {kind} for name, kind in INDEXED.items()}


def test_every_declared_attribute_is_a_key(tables: Mapping[str, Mapping[str, Any]]) -> None:
    for table in tables.values():
        schemas = [table["KeySchema"], *(i["KeySchema"] for i in table.get("GlobalSecondaryIndexes", ()))]
        assert set(types(table)) == {key["AttributeName"] for schema in schemas for key in schema}


def indexes(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    return {
        index["IndexName"]: index
        for table in tables.values()
        for index in table.get("GlobalSecondaryIndexes", ())
    }


def test_every_index_that_is_asked_is_there_and_every_one_is_asked(
    calls: list[AwsCalls], tables: Mapping[str, Mapping[str, Any]]
) -> None:
    asked = {call.parameters["IndexName"] for call in made(calls) if "IndexName" in call.parameters}
    assert asked == set(indexes(tables))
    assert len(asked) == len(INDEXES)


def test_an_index_has_what_its_readers_take_and_no_more(
    calls: list[AwsCalls], tables: Mapping[str, Mapping[str, Any]]
) -> None:
    for name, index in indexes(tables).items():
        keys = {key["AttributeName"] for key in index["KeySchema"]} | {Attribute.PK, Attribute.SK}
        projected = set(index["Projection"].get("NonKeyAttributes", ()))
        taken = set().union(*(each.taken.get(name, set()) for each in calls))
        filtered = {
            attribute
            for call in made(calls)
            if call.parameters.get("IndexName") == name
            for attribute in call.parameters.get("ExpressionAttributeNames", {}).values()
        }
        assert taken | filtered <= keys | projected, name
        assert projected <= taken | filtered, f"{name} projects what nobody reads"


def test_every_kind_of_item_is_written_by_a_drive(calls: list[AwsCalls]) -> None:
    put = {item["entity"]["S"] for _, item in written(calls)}
    assert put | {Entity.ERASURE} == set(Entity), "of the clean-up's own, see the next test"


def test_all_that_expires_says_when_in_the_attribute_that_both_tables_watch(
    calls: list[AwsCalls], tables: Mapping[str, Mapping[str, Any]]
) -> None:
    now = int(time.time())
    kinds = set()
    for name, item in written(calls):
        ttl = tables[name]["TimeToLiveSpecification"]
        assert ttl["Enabled"] is True
        if item["entity"]["S"] in LASTING:
            assert ttl["AttributeName"] not in item
            continue
        if item["entity"]["S"] in OPEN_ENDED and ttl["AttributeName"] not in item:
            continue
        assert set(item[ttl["AttributeName"]]) == {"N"}, item
        assert now - LONGEST < int(item[ttl["AttributeName"]]["N"]) < now + LONGEST, "whole seconds"
        kinds.add(item["entity"]["S"])
    assert kinds >= set(Entity) - {Entity.ERASURE} - LASTING


def test_the_keys_of_a_page_are_those_of_table_and_index(
    calls: list[AwsCalls], tables: Mapping[str, Mapping[str, Any]]
) -> None:
    for call in made(calls):
        start = call.parameters.get("ExclusiveStartKey")
        if start is not None:
            index = indexes(tables).get(call.parameters.get("IndexName", ""))
            keys = {Attribute.PK, Attribute.SK}
            keys |= {key["AttributeName"] for key in index["KeySchema"]} if index else set()
            assert set(start) == keys


def test_a_drive_is_of_a_function_that_is_deployed(dev: Synthesized, bearer: Synthesized) -> None:
    there = {package for each in (dev, bearer) for r in each.regions for package in packages(each, region=r)}
    assert set(DRIVES) <= there
