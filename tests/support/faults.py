"""What DynamoDB does on a bad day, done to a client: answers lost, writes that meet, throttling.

The emulator itself never has such a day. Each function hooks into one client's
events. The client is the product's own, which resends nothing by itself.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ConnectionClosedError

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


@contextmanager
def lose_first_answer(
    client: "DynamoDBClient",
    operation: str,
    *,
    times: int = 1,
    meanwhile: Callable[[], object] = lambda: None,
) -> Iterator[Counter[str]]:
    """The first calls that are really done lose their answers: the connection breaks before they come.

    ``meanwhile`` happens between a loss and whatever is sent next. Counts the requests
    ``sent`` and the answers ``lost``; in the end all the losses have happened, and
    something was sent after the last of them.
    """
    seen: Counter[str] = Counter()

    def count(**_: Any) -> None:
        seen["sent"] += 1

    def lose(http_response: Any, **_: Any) -> None:
        if seen["lost"] == times or http_response.status_code != HTTPStatus.OK:
            return
        seen["lost"] += 1
        seen["sent before the last loss"] = seen["sent"]
        meanwhile()
        raise ConnectionClosedError(endpoint_url="http://127.0.0.1")

    client.meta.events.register(f"before-send.dynamodb.{operation}", count)
    client.meta.events.register(f"after-call.dynamodb.{operation}", lose)
    try:
        yield seen
    finally:
        client.meta.events.unregister(f"before-send.dynamodb.{operation}", count)
        client.meta.events.unregister(f"after-call.dynamodb.{operation}", lose)
    assert seen["lost"] == times
    assert seen["sent"] > seen["sent before the last loss"]


def lose_every_answer(client: "DynamoDBClient", operation: str) -> None:
    """The call is done, and the connection breaks before the answer comes, at each attempt."""

    def broken(**_: Any) -> None:
        raise ConnectionClosedError(endpoint_url="http://127.0.0.1")

    client.meta.events.register(f"after-call.dynamodb.{operation}", broken)


def double_entries(client: "DynamoDBClient") -> None:
    """Every query answers each entry twice."""

    def double(parsed: dict[str, Any], **_: Any) -> None:
        parsed["Items"] = [entry for entry in parsed["Items"] for _ in range(2)]

    client.meta.events.register("after-call.dynamodb.Query", double)


class Body:
    """Of an answer that no server gave."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        yield self._content


def refuse(
    client: "DynamoDBClient", operation: str, answers: Iterable[dict[str, Any] | None]
) -> Counter[str]:
    """Each answer in turn, instead of doing the call; after the last one, calls are done.

    An answer is the error's body with ``__type``; None lets its call be done. Counts the refusals.
    """
    pending = iter(answers)
    refused: Counter[str] = Counter()

    def answer(request: Any, **_: Any) -> AWSResponse | None:
        body = next(pending, None)
        if body is None:
            return None
        refused[body["__type"]] += 1
        content = json.dumps({**body, "__type": f"com.amazonaws.dynamodb.v20120810#{body['__type']}"})
        return AWSResponse(request.url, 400, HTTPHeaders(), Body(content.encode()))

    client.meta.events.register(f"before-send.dynamodb.{operation}", answer)  # type: ignore[arg-type] # botocore reads what it returns
    return refused


def throttled() -> dict[str, Any]:
    return {"__type": "ThrottlingException", "Message": "Throughput exceeds the current capacity"}


def running() -> dict[str, Any]:
    """The very transaction that is sent again is still being done."""
    return {"__type": "TransactionInProgressException", "Message": "The transaction is in progress"}


def token_used() -> dict[str, Any]:
    """Another request was sent under the token of this transaction."""
    return {"__type": "IdempotentParameterMismatchException", "Message": "Other parameters, same token"}


def conflict() -> dict[str, Any]:
    """A single write that met a transaction."""
    return {"__type": "TransactionConflictException", "Message": "Transaction is ongoing for the item"}


def cancelled(*codes: str) -> dict[str, Any]:
    """A transaction cancelled for a reason per item."""
    return {
        "__type": "TransactionCanceledException",
        "Message": f"Transaction cancelled [{', '.join(codes)}]",
        "CancellationReasons": [{"Code": code} for code in codes],
    }


@dataclass
class Spending:
    """Calls made, read units, and write units by table, its indexes' included, since the last ``reset``."""

    calls: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    read_units: float = 0

    @property
    def round_trips(self) -> int:
        return self.calls.total()

    @property
    def write_units(self) -> float:
        return self.written.total()

    def reset(self) -> None:
        self.calls.clear()
        self.written.clear()
        self.read_units = 0


READS = frozenset({"GetItem", "Query", "BatchGetItem"})


def watch_spending(client: "DynamoDBClient") -> Spending:
    """Count calls, and the write units that their answers report."""
    spending = Spending()

    def ask(params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"

    def note(model: Any, parsed: dict[str, Any], **_: Any) -> None:
        spending.calls[model.name] += 1
        consumed = parsed.get("ConsumedCapacity") or []
        for each in [consumed] if isinstance(consumed, dict) else consumed:
            if model.name in READS:
                spending.read_units += each["CapacityUnits"]
            else:
                spending.written[each["TableName"]] += each["CapacityUnits"]

    client.meta.events.register("provide-client-params.dynamodb", ask)
    client.meta.events.register("after-call.dynamodb", note)
    return spending


@dataclass
class Crashes:
    """Writes begun so far, by operation; ``armed`` until the process is taken to have started anew."""

    begun: list[str] = field(default_factory=list)
    armed: bool = True


SINGLE_WRITES = ("PutItem", "UpdateItem", "BatchWriteItem")
EVERY_WRITE = (*SINGLE_WRITES, "TransactWriteItems")


def crash_at(
    client: "DynamoDBClient",
    number: int,
    crash: type[BaseException],
    *,
    after: bool,
    operations: Iterable[str] = SINGLE_WRITES,
) -> Crashes:
    """End the process at one of the client's writes (the first is 0), unsent or ``after`` it is done."""
    crashes = Crashes()

    def before_send(request: Any, **_: Any) -> None:
        if not crashes.armed:
            return
        crashes.begun.append(request.headers["X-Amz-Target"].decode().rpartition(".")[2])
        if not after and len(crashes.begun) == number + 1:
            raise crash

    def after_call(**_: Any) -> None:
        if crashes.armed and after and len(crashes.begun) == number + 1:
            raise crash

    for operation in operations:
        client.meta.events.register(f"before-send.dynamodb.{operation}", before_send)
        client.meta.events.register(f"after-call.dynamodb.{operation}", after_call)
    return crashes


def leave_undone(client: "DynamoDBClient", *, every: int) -> Counter[str]:
    """BatchWriteItem leaves the last item undone each time but every so many; counts what it left."""
    left: Counter[str] = Counter()
    held: dict[str, Any] = {}
    calls = Counter[str]()

    def hold_back(params: dict[str, Any], **_: Any) -> None:
        calls["all"] += 1
        held.clear()
        if calls["all"] % every == 0:
            return
        for table, requests in params["RequestItems"].items():
            if len(requests) > 1:
                held[table] = [requests[-1]]
                params["RequestItems"] = {table: requests[:-1]}

    def tell(parsed: dict[str, Any], **_: Any) -> None:
        left["items"] += len(held)
        parsed["UnprocessedItems"] = dict(held)

    client.meta.events.register("provide-client-params.dynamodb.BatchWriteItem", hold_back)
    client.meta.events.register("after-call.dynamodb.BatchWriteItem", tell)
    return left
