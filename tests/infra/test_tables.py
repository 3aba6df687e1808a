"""The tables are what the schema says and what the configuration asks for."""

from typing import Any

import pytest

from session_store import schema
from tests.infra.conftest import REGIONS, Synthesized

MOST_INDEXES = 6
"""What a change of the table may cost at the most: each holds an entry of what it is of."""

PROD_TABLES = ["session-store-prod", "session-store-audit-prod"]


@pytest.mark.parametrize("name", ["session-store-dev", "session-store-audit-dev"])
def test_both_tables_are_keyed_by_the_schema_and_on_demand(dev: Synthesized, name: str) -> None:
    table = dev.table(name)
    assert table["KeySchema"] == [
        {"AttributeName": schema.Attribute.PK, "KeyType": "HASH"},
        {"AttributeName": schema.Attribute.SK, "KeyType": "RANGE"},
    ]
    assert table["BillingMode"] == "PAY_PER_REQUEST"


@pytest.mark.parametrize("name", ["session-store-dev", "session-store-audit-dev"])
def test_the_ttl_attribute_is_the_one_that_expiring_items_write(dev: Synthesized, name: str) -> None:
    expected = {"AttributeName": schema.Attribute.TTL.value, "Enabled": True}
    assert dev.table(name)["TimeToLiveSpecification"] == expected


def test_the_emulator_is_given_no_ttl(local: Synthesized) -> None:
    assert "TimeToLiveSpecification" not in local.table("session-store-local")


def test_both_tables_stream_both_images_from_one_region_on(dev: Synthesized, prod: Synthesized) -> None:
    """A replica needs the stream, and CloudFormation refuses to add both at once."""
    tables = [t for each in (dev, prod) for t in each.properties("AWS::DynamoDB::GlobalTable")]
    assert [table["StreamSpecification"] for table in tables] == [
        {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    ] * 4


def projection(index: schema.Index) -> dict[str, Any]:
    if not index.projected:
        return {"ProjectionType": "KEYS_ONLY"}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": [name.value for name in index.projected]}


def test_the_indexes_are_those_of_the_schema(dev: Synthesized) -> None:
    expected = [
        {
            "IndexName": index.name,
            "KeySchema": [
                *({"AttributeName": name.value, "KeyType": "HASH"} for name in index.partition),
                *({"AttributeName": name.value, "KeyType": "RANGE"} for name in index.sort),
            ],
            "Projection": projection(index),
        }
        for index in schema.INDEXES
    ]
    assert len(expected) <= MOST_INDEXES
    assert dev.table("session-store-dev")["GlobalSecondaryIndexes"] == expected
    assert "GlobalSecondaryIndexes" not in dev.table("session-store-audit-dev")


def test_key_attributes_have_the_types_of_the_schema(dev: Synthesized) -> None:
    declared = {
        attribute["AttributeName"]: attribute["AttributeType"]
        for attribute in dev.table("session-store-dev")["AttributeDefinitions"]
    }
    assert declared == {name.value: kind for name, kind in schema.KEY_TYPES.items()}


def test_there_are_at_most_six_indexes() -> None:
    assert len(schema.INDEXES) <= 6


def test_every_replica_can_be_restored_to_a_point_in_time(every: Synthesized) -> None:
    for table in every.properties("AWS::DynamoDB::GlobalTable"):
        for replica in table["Replicas"]:
            assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_one_region_is_one_replica(dev: Synthesized) -> None:
    assert [replica["Region"] for replica in dev.table("session-store-dev")["Replicas"]] == ["us-east-1"]


@pytest.mark.parametrize("name", PROD_TABLES)
def test_both_tables_are_replicated_to_every_region(prod: Synthesized, name: str) -> None:
    assert {replica["Region"] for replica in prod.table(name)["Replicas"]} == set(REGIONS)


@pytest.mark.parametrize("name", PROD_TABLES)
def test_retained_data_are_protected_in_every_region(prod: Synthesized, name: str) -> None:
    assert all(replica["DeletionProtectionEnabled"] for replica in prod.table(name)["Replicas"])


def test_retained_tables_outlive_their_stack_and_others_do_not(prod: Synthesized, dev: Synthesized) -> None:
    def policies(synthesized: Synthesized) -> set[tuple[str, str]]:
        tables = synthesized.resources("AWS::DynamoDB::GlobalTable")
        return {(table["DeletionPolicy"], table["UpdateReplacePolicy"]) for table in tables.values()}

    assert policies(prod) == {("RetainExceptOnCreate", "Retain")}
    assert policies(dev) == {("Delete", "Delete")}


def test_encryption_is_by_the_key_the_configuration_names(prod: Synthesized, dev: Synthesized) -> None:
    assert {str(t.get("SSESpecification")) for t in dev.properties("AWS::DynamoDB::GlobalTable")} == {
        str({"SSEEnabled": False})
    }
    assert [t["SSESpecification"] for t in prod.properties("AWS::DynamoDB::GlobalTable")] == [
        {"SSEEnabled": True, "SSEType": "KMS"}
    ] * 2
