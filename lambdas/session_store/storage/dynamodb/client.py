"""The calls to DynamoDB that the store makes, and the meaning of their refusals.

Every deciding read is consistent, and goes to DynamoDB itself rather than to a cache.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from botocore.exceptions import ClientError
from msgspec import Struct, field

from session_store.errors import (
    OutcomeUnknownError,
    PayloadTooLargeError,
    ThrottledError,
    UnfinishedError,
)
from session_store.storage.dynamodb.attempts import CONFLICTS, Attempts, RejectedError, reasons_of
from session_store.storage.dynamodb.codec import ITEM_LIMIT, Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import (
        BatchGetItemOutputTypeDef,
        BatchWriteItemOutputTypeDef,
        QueryOutputTypeDef,
    )

BATCHES: Final = 8
"""Requests for one batch at most: DynamoDB may leave items unprocessed."""

Answer = TypeVar("Answer")


class ConditionFailedError(Exception):
    """A write's condition did not hold; ``item`` is the stored item, if there is one.

    ``answer_lost``: the response to an earlier attempt was lost, so the stored item may be the work of this
    request, or that of another write on top of it.
    """

    def __init__(self, item: Item | None, *, answer_lost: bool) -> None:
        super().__init__()
        self.item = item
        self.answer_lost = answer_lost


class TransactionRefusedError(Exception):
    """Conditions of a transaction did not hold: ``held`` has the stored item at each position that refused.

    ``conflicting``: positions of items with another write in progress, whose conditions were not evaluated.
    """

    def __init__(
        self, held: Mapping[int, Item | None], *, answer_lost: bool, conflicting: frozenset[int] = frozenset()
    ) -> None:
        super().__init__()
        self.held = held
        self.conflicting = conflicting
        self.answer_lost = answer_lost


class TokenUsedError(Exception):
    """Another request with the same token was sent before, and is done or in progress."""


class SumOutOfRangeError(Exception):
    """DynamoDB's numbers cannot hold a sum; it does not say which."""


class Client(Struct, frozen=True, kw_only=True):
    """Calls to one table. ``dynamodb`` is a low-level client with timeouts and without retries of its own."""

    dynamodb: "DynamoDBClient"
    table: str
    attempts: Attempts = field(default_factory=Attempts)

    def get(self, key: Item) -> Item | None:
        answer = self._read(
            lambda: self.dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True)
        )
        return answer.get("Item")

    def get_all(self, keys: Sequence[Item], *, only: Sequence[str] = ()) -> list[Item]:
        """Up to 100 items, read consistently; ``only``: the attributes to read, all by default.

        Keys that DynamoDB leaves unprocessed are requested again.
        """
        items: list[Item] = []
        pending: list[Item] = list(keys)
        for attempt in range(BATCHES):
            answer = self._read(partial(self._get_batch, pending, only))
            items.extend(answer["Responses"].get(self.table, []))
            pending = list(answer.get("UnprocessedKeys", {}).get(self.table, {"Keys": []})["Keys"])
            if not pending:
                return items
            self.attempts.pause(attempt)
        raise ThrottledError

    def _get_batch(self, keys: list[Item], only: Sequence[str]) -> "BatchGetItemOutputTypeDef":
        names = {f"#{position}": name for position, name in enumerate(only)}
        request: Any = {self.table: {"Keys": keys, "ConsistentRead": True}}
        if names:
            request[self.table]["ProjectionExpression"] = ", ".join(names)
            request[self.table]["ExpressionAttributeNames"] = names
        return self.dynamodb.batch_get_item(RequestItems=request)

    def query(
        self,
        *,
        start: Item | None = None,
        **arguments: Any,  # noqa: ANN401 - botocore's own
    ) -> tuple[list[Item], Item | None]:
        """One page after the key ``start``, and the key to start the next one after; None at the end."""
        answer = self._read(partial(self._query_page, start, arguments))
        return answer["Items"], answer.get("LastEvaluatedKey")

    def pages(
        self,
        *,
        most: int | None = None,
        **arguments: Any,  # noqa: ANN401 - botocore's own
    ) -> Iterator[list[Item]]:
        """The pages of a query, each read as it is asked for, ``most`` at most; empty ones are skipped."""
        start: Item | None = None
        for _ in itertools.count() if most is None else range(most):
            items, start = self.query(start=start, **arguments)
            if items:
                yield items
            if start is None:
                return

    def count(
        self,
        *,
        start: Item | None = None,
        **arguments: Any,  # noqa: ANN401 - botocore's own
    ) -> tuple[int, Item | None]:
        """As ``query``, with the number of items in the place of the items."""
        answer = self._read(partial(self._query_page, start, {**arguments, "Select": "COUNT"}))
        return answer["Count"], answer.get("LastEvaluatedKey")

    def _query_page(self, start: Item | None, arguments: Mapping[str, Any]) -> "QueryOutputTypeDef":
        after: dict[str, Any] = {} if start is None else {"ExclusiveStartKey": start}
        return self.dynamodb.query(TableName=self.table, **arguments, **after)

    def put(self, item: Item, **condition: Any) -> None:  # noqa: ANN401 - botocore's own
        self._write(
            lambda: self.dynamodb.put_item(
                TableName=self.table,
                Item=item,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **condition,
            )
        )

    def replace(self, item: Item) -> None:
        """Put the item unconditionally."""
        self._write(lambda: self.dynamodb.put_item(TableName=self.table, Item=item))

    def update(self, key: Item, **arguments: Any) -> Item:  # noqa: ANN401 - botocore's own
        """Update an item; returns all of it after the update."""
        answer = self._write(
            lambda: self.dynamodb.update_item(
                TableName=self.table,
                Key=key,
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **arguments,
            )
        )
        return answer["Attributes"]

    def delete_all(self, keys: Sequence[Item]) -> None:
        """Delete up to 25 items, whether or not they exist; unprocessed ones are requested again.

        Raises:
            UnfinishedError: some are left.
        """
        pending: list[Any] = [{"DeleteRequest": {"Key": key}} for key in keys]
        for attempt in range(BATCHES):
            answer = self._write(partial(self._write_batch, pending))
            pending = list(answer.get("UnprocessedItems", {}).get(self.table, []))
            if not pending:
                return
            self.attempts.pause(attempt)
        raise UnfinishedError("DynamoDB did not process all of a batch")

    def _write_batch(self, requests: list[Any]) -> "BatchWriteItemOutputTypeDef":
        return self.dynamodb.batch_write_item(RequestItems={self.table: requests})

    def transact(self, items: Sequence[Any], *, token: str) -> None:
        """Write all items or none. A repeated token makes a retry the same request, for ten minutes."""
        self._write(lambda: self.dynamodb.transact_write_items(TransactItems=items, ClientRequestToken=token))

    def _read(self, call: Callable[[], Answer]) -> Answer:
        try:
            return self.attempts.call_with_retries(call)
        except RejectedError as rejected:
            raise rejected.error from rejected
        except OutcomeUnknownError as error:
            raise ThrottledError("The database did not answer in time; nothing was done.") from error

    def _write(self, call: Callable[[], Answer]) -> Answer:
        try:
            return self.attempts.call_with_retries(call)
        except RejectedError as rejected:
            raise _meaning(rejected.error, answer_lost=rejected.answer_lost) from rejected.error


def _meaning(error: ClientError, *, answer_lost: bool) -> Exception:
    response: Mapping[str, Any] = error.response
    match response.get("Error", {}).get("Code"):
        case "ConditionalCheckFailedException":
            return ConditionFailedError(response.get("Item"), answer_lost=answer_lost)
        case "TransactionCanceledException":
            return _cancellation(error, answer_lost=answer_lost)
        case "IdempotentParameterMismatchException":
            return TokenUsedError()
        case "ValidationException":
            return _validation(response["Error"].get("Message", "")) or error
    return error


def _cancellation(error: ClientError, *, answer_lost: bool) -> Exception:
    """The error of a cancelled transaction: its failed conditions, or else a validation error."""
    reasons: list[Mapping[str, Any]] = list(reasons_of(error))
    held = {
        position: reason.get("Item")
        for position, reason in enumerate(reasons)
        if reason.get("Code") == "ConditionalCheckFailed"
    }
    if held:
        conflicting = {position for position, reason in enumerate(reasons) if reason.get("Code") in CONFLICTS}
        return TransactionRefusedError(held, answer_lost=answer_lost, conflicting=frozenset(conflicting))
    meanings = (_validation(reason.get("Message") or "") for reason in reasons)
    return next((meaning for meaning in meanings if meaning), error)


def _validation(message: str) -> Exception | None:
    """The validation errors that depend on the stored item: its size, and a sum out of range."""
    lowered = message.lower()
    if "item size" in lowered and "exceeded" in lowered:
        return PayloadTooLargeError("The item would exceed DynamoDB's limit.", limit=ITEM_LIMIT)
    if "number overflow" in lowered or "number underflow" in lowered or "significant digits" in lowered:
        return SumOutOfRangeError()
    return None
