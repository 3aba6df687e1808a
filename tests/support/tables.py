"""The two tables, made from the schema in whatever serves DynamoDB's API."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from session_store.schema import INDEXES, KEY_TYPES, Attribute, Index

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

KEY: Final = (Attribute.PK, Attribute.SK)


def create_tables(client: "DynamoDBClient", *, table: str, audit_table: str) -> None:
    """The session table with its indexes, and the audit table. Neither has TTL or a stream."""
    client.create_table(
        TableName=table,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=_keys((Attribute.PK,), (Attribute.SK,)),
        AttributeDefinitions=[_definition(attribute) for attribute in KEY_TYPES],
        GlobalSecondaryIndexes=[_index(index) for index in INDEXES],
    )
    client.create_table(
        TableName=audit_table,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=_keys((Attribute.PK,), (Attribute.SK,)),
        AttributeDefinitions=[_definition(attribute) for attribute in KEY],
    )


def _definition(attribute: Attribute) -> Any:
    return {"AttributeName": attribute.value, "AttributeType": KEY_TYPES[attribute]}


def _keys(partition: Sequence[Attribute], sort: Sequence[Attribute]) -> Any:
    hashed = [{"AttributeName": attribute.value, "KeyType": "HASH"} for attribute in partition]
    ranged = [{"AttributeName": attribute.value, "KeyType": "RANGE"} for attribute in sort]
    return hashed + ranged


def _projection(index: Index) -> Any:
    if not index.projected:
        return {"ProjectionType": "KEYS_ONLY"}
    names = [attribute.value for attribute in index.projected]
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": names}


def _index(index: Index) -> Any:
    return {
        "IndexName": index.name,
        "KeySchema": _keys(index.partition, index.sort),
        "Projection": _projection(index),
    }
