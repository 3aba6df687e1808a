"""What the clients' answers tell of units, and who counts what."""

from types import SimpleNamespace
from typing import Any

import pytest
from botocore.hooks import HierarchicalEmitter

from bench.spending import Spending

NAMES = {"#pk": "pk", "#sk": "sk"}


class Plain:
    """A table whose partitions hold five kilobytes."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def query(self, **arguments: Any) -> Any:
        self.asked.append(arguments)
        return {"Items": [{"pk": {"S": "x" * 5000}}]}


class Client:
    """Makes calls as botocore does: what is sent passes the hooks, and so does what is answered."""

    def __init__(self) -> None:
        self._events = HierarchicalEmitter()
        self.plain = Plain()
        self.spending = Spending(self.plain, self._events)

    def call(self, service: str, operation: str, answer: Any = None, **params: Any) -> dict[str, Any]:
        model = SimpleNamespace(name=operation, service_model=SimpleNamespace(service_name=service))
        self._events.emit(f"provide-client-params.{service}.{operation}", params=params, model=model)
        self._events.emit(f"after-call.{service}.{operation}", model=model, parsed=answer or {})
        return params


@pytest.fixture
def client() -> Client:
    return Client()


def test_a_write_counts_for_its_table_and_each_index(client: Client) -> None:
    indexes = {"owner-index": {"CapacityUnits": 2.0}}
    consumed = {"TableName": "sessions", "CapacityUnits": 5.0, "GlobalSecondaryIndexes": indexes}
    sent = client.call("dynamodb", "PutItem", {"ConsumedCapacity": consumed})
    assert sent["ReturnConsumedCapacity"] == "INDEXES"
    spent = client.spending.taken()
    assert spent.writes == {"sessions": 3.0, "owner-index": 2.0}
    assert (spent.reads, spent.round_trips) == (0, 1)


@pytest.mark.parametrize(("there", "sent", "units"), [(10, 10, 1), (5000, 10, 5), (10, 2000, 2)])
def test_a_refused_write_takes_what_the_larger_of_the_two_items_would(
    client: Client, there: int, sent: int, units: int
) -> None:
    refusal = {
        "Error": {"Code": "ConditionalCheckFailedException"},
        "Item": {"pk": {"S": "x" * there}},
    }
    client.call("dynamodb", "PutItem", refusal, TableName="sessions", Item={"pk": {"S": "x" * sent}})
    spent = client.spending.taken()
    assert (spent.writes, spent.round_trips) == ({"sessions": units}, 1)


def test_a_transaction_counts_for_each_of_its_tables(client: Client) -> None:
    consumed = [{"TableName": name, "CapacityUnits": 2.0} for name in ("sessions", "audit")]
    client.call("dynamodb", "TransactWriteItems", {"ConsumedCapacity": consumed})
    assert client.spending.taken().writes == {"sessions": 2.0, "audit": 2.0}


@pytest.mark.parametrize(("consistent", "units"), [(True, 3), (False, 1.5)])
def test_a_read_counts_the_bytes_of_its_item(client: Client, *, consistent: bool, units: float) -> None:
    """Whatever the answer says: the emulator says one unit of every item."""
    told = {"Item": {"pk": {"S": "x" * 9000}}, "ConsumedCapacity": {"TableName": "t", "CapacityUnits": 1}}
    client.call("dynamodb", "GetItem", told, ConsistentRead=consistent)
    spent = client.spending.taken()
    assert (spent.reads, spent.writes) == (units, {})


def test_a_read_of_nothing_counts_one_unit(client: Client) -> None:
    client.call("dynamodb", "GetItem", {}, ConsistentRead=True)
    assert client.spending.taken().reads == 1


def test_a_batch_counts_each_of_its_items_by_itself(client: Client) -> None:
    told = {"Responses": {"t": [{"pk": {"S": "x"}}, {"pk": {"S": "x" * 5000}}]}}
    asked = {"t": {"Keys": [{}, {}, {}], "ConsistentRead": True}}
    client.call("dynamodb", "BatchGetItem", told, RequestItems=asked)
    assert client.spending.taken().reads == 1 + 2 + 1


def test_a_query_counts_the_whole_items_that_it_looks_at(client: Client) -> None:
    told = {"ConsumedCapacity": {"TableName": "t", "CapacityUnits": 99.0}}
    client.call(
        "dynamodb",
        "Query",
        told,
        KeyConditionExpression="#pk = :pk",
        ProjectionExpression="#sk",
        FilterExpression="#sk > :sk",
        ExpressionAttributeNames=NAMES,
        ExpressionAttributeValues={":pk": 1, ":sk": 2},
        ConsistentRead=True,
    )
    (asked,) = client.plain.asked
    assert asked["ExpressionAttributeNames"] == {"#pk": "pk"}
    assert asked["ExpressionAttributeValues"] == {":pk": 1}
    assert asked.keys().isdisjoint({"ProjectionExpression", "FilterExpression"})
    assert client.spending.taken().reads == 2


def test_messages_and_events_are_counted_and_so_are_their_round_trips(client: Client) -> None:
    client.call("sqs", "SendMessage")
    client.call("events", "PutEvents", Entries=[{}, {}, {}])
    spent = client.spending.taken()
    assert (spent.messages, spent.events, spent.round_trips) == (1, 3, 2)


def test_what_was_taken_is_not_taken_again(client: Client) -> None:
    client.call("sqs", "SendMessage")
    assert client.spending.taken().messages == 1
    assert client.spending.taken().messages == 0
