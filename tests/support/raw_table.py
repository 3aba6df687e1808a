"""The tables seen past the API: what lies in them, and what an operator with a console could put there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from session_store.schema import SESSION_SK, Attribute, session_pk
from tests.support.emulator import LiveStack

Item = dict[str, Any]
"""DynamoDB's own form: ``{"ttl": {"N": "1796040561"}}``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawTable:
    """One table, as root."""

    dynamodb: Any
    name: str

    def metadata(self, session_id: str) -> Item | None:
        return self.item(session_pk(session_id), SESSION_SK)

    def item(self, pk: str, sk: str) -> Item | None:
        key = {Attribute.PK: {"S": pk}, Attribute.SK: {"S": sk}}
        found: Item | None = self.dynamodb.get_item(TableName=self.name, Key=key, ConsistentRead=True).get(
            "Item"
        )
        return found

    def partition(self, session_id: str) -> list[Item]:
        """Every item of a session, in the order of its keys."""
        return self.partition_of(session_pk(session_id))

    def partition_of(self, pk: str) -> list[Item]:
        return list(self._query(pk))

    def put(self, item: Item) -> None:
        self.dynamodb.put_item(TableName=self.name, Item=item)

    def end_at(self, session_id: str, ttl: int) -> None:
        """Put the session's metadata anew with another end (epoch seconds)."""
        metadata = self.metadata(session_id)
        assert metadata is not None
        self.put({**metadata, Attribute.TTL: {"N": str(ttl)}})

    def _query(self, pk: str) -> Iterator[Item]:
        arguments: dict[str, Any] = {}
        while True:
            page = self.dynamodb.query(
                TableName=self.name,
                KeyConditionExpression="#pk = :pk",
                ExpressionAttributeNames={"#pk": Attribute.PK},
                ExpressionAttributeValues={":pk": {"S": pk}},
                ConsistentRead=True,
                **arguments,
            )
            yield from page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            arguments = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def session_table(stack: LiveStack) -> RawTable:
    return RawTable(dynamodb=stack.emulator.client("dynamodb"), name=stack.deployed.table_name)


def audit_table(stack: LiveStack) -> RawTable:
    return RawTable(dynamodb=stack.emulator.client("dynamodb"), name=stack.deployed.audit_table_name)
