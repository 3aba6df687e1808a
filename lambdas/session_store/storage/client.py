"""The calls to DynamoDB that the store makes, and what their failures mean.

Everything that decides goes through the plain client, consistently. A request is
built once by the caller and sent unchanged at every retry.
"""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from botocore.exceptions import ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as UnreachableError

from session_store.deadline import Deadline
from session_store.errors import (
    InvalidRequestError,
    OutcomeUnknownError,
    PayloadTooLargeError,
    StoreError,
    ThrottledError,
)
from session_store.storage.codec import ITEM_LIMIT, Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

CONFLICT_RETRIES: Final = 8
FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 1.0
MARGIN: Final = 1.0
"""Seconds of the deadline kept back for the answer."""

_THROTTLES: Final = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "ProvisionedThroughputExceeded",
        "RequestLimitExceeded",
        "ThrottlingException",
        "ThrottlingError",
    }
)
_UNSURE: Final = frozenset({"InternalServerError", "ServiceUnavailable"})
_CONFLICTS: Final = frozenset(
    {"TransactionConflictException", "TransactionConflict", "TransactionInProgressException"}
)

Answer = TypeVar("Answer")


class ConditionFailedError(Exception):
    """The condition of a write did not hold; ``item`` is what was there, if anything was."""

    def __init__(self, item: Item | None) -> None:
        super().__init__()
        self.item = item


class TransactionRefusedError(Exception):
    """Conditions did not hold: ``held`` says for each item that refused, by position, what was there."""

    def __init__(self, held: Mapping[int, Item | None]) -> None:
        super().__init__()
        self.held = held


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """How long to go on when two writes meet on one item: full jitter, within the deadline."""

    deadline: Deadline = field(default_factory=Deadline)
    sleep: Callable[[float], None] = time.sleep
    uniform: Callable[[float, float], float] = random.uniform

    def retried(self, call: Callable[[], Answer]) -> Answer:
        for attempt in range(CONFLICT_RETRIES + 1):
            try:
                return call()
            except ClientError as error:
                if not _is_conflict(error):
                    raise
            if not self.paused(attempt):
                break
        detail = "Too many writes met on one item; nothing was changed."
        raise ThrottledError(detail)

    def paused(self, attempt: int) -> bool:
        """Sleep before the attempt after this one (the first is 0); False where there is none in time."""
        pause = self.uniform(0, min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt))
        if attempt == CONFLICT_RETRIES or self.deadline.remaining() < pause + MARGIN:
            return False
        self.sleep(pause)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One table's calls. ``dynamodb`` is a low-level client with timeouts set."""

    dynamodb: "DynamoDBClient"
    table: str
    conflicts: Conflicts = field(default_factory=Conflicts)

    def get(self, key: Item) -> Item | None:
        with _reading():
            answer = self.dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True)
        return answer.get("Item")

    def get_all(self, keys: Sequence[Item]) -> list[Item]:
        """Up to 100 items, read consistently; what DynamoDB leaves out is asked for again."""
        found: list[Item] = []
        pending: list[Item] = list(keys)
        for _ in range(CONFLICT_RETRIES):
            with _reading():
                answer = self.dynamodb.batch_get_item(
                    RequestItems={self.table: {"Keys": pending, "ConsistentRead": True}}
                )
            found.extend(answer["Responses"].get(self.table, []))
            pending = list(answer.get("UnprocessedKeys", {}).get(self.table, {"Keys": []})["Keys"])
            if not pending:
                return found
        raise ThrottledError

    def query(self, **arguments: Any) -> tuple[list[Item], Item | None]:  # noqa: ANN401 - botocore's own
        """One page, and the key that the next one starts after (None at the end)."""
        with _reading():
            answer = self.dynamodb.query(TableName=self.table, **arguments)
        return answer["Items"], answer.get("LastEvaluatedKey")

    def put(self, item: Item, **condition: Any) -> None:  # noqa: ANN401 - botocore's own
        self._write(
            lambda: self.dynamodb.put_item(
                TableName=self.table,
                Item=item,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **condition,
            )
        )

    def update(self, key: Item, **arguments: Any) -> Item:  # noqa: ANN401 - botocore's own
        """The whole item after the update."""
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
        """Delete up to 25 items, there or not; what DynamoDB leaves undone is asked for again.

        Raises:
            ThrottledError: some are still left; a part may be done.
        """
        pending: list[Any] = [{"DeleteRequest": {"Key": key}} for key in keys]
        for attempt in range(CONFLICT_RETRIES + 1):
            request = {self.table: pending}
            answer = self._write(lambda: self.dynamodb.batch_write_item(RequestItems=request))  # noqa: B023 - called at once
            pending = list(answer.get("UnprocessedItems", {}).get(self.table, []))
            if not pending:
                return
            if not self.conflicts.paused(attempt):
                break
        raise ThrottledError

    def transact(self, items: Sequence[Any], *, token: str) -> None:
        """All the items or none. The token makes a repeated request the same request, for ten minutes."""
        self._write(lambda: self.dynamodb.transact_write_items(TransactItems=items, ClientRequestToken=token))

    def _write(self, call: Callable[[], Answer]) -> Answer:
        try:
            return self.conflicts.retried(call)
        except ClientError as error:
            if _code(error) in _UNSURE:
                raise OutcomeUnknownError from error
            raise _meaning(error) from error
        except (UnreachableError, HTTPClientError) as error:
            raise OutcomeUnknownError from error


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        raise _meaning(error) from error
    except (UnreachableError, HTTPClientError) as error:
        raise ThrottledError("The database did not answer in time.") from error


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")


def _reasons(error: ClientError) -> list[dict[str, Any]]:
    return error.response.get("CancellationReasons", [])  # type: ignore[return-value] # not in botocore's types


def _is_conflict(error: ClientError) -> bool:
    """Whether nothing but a meeting of writes stood in the way: another reason beside it decides."""
    if _code(error) != "TransactionCanceledException":
        return _code(error) in _CONFLICTS
    codes = {reason.get("Code", "None") for reason in _reasons(error)} - {"None"}
    return bool(codes) and codes <= _CONFLICTS


def _meaning(error: ClientError) -> Exception:
    code = _code(error)
    if code == "ConditionalCheckFailedException":
        return ConditionFailedError(error.response.get("Item"))  # type: ignore[arg-type] # not in botocore's types
    if code == "TransactionCanceledException":
        return _cancellation(error)
    if code in _THROTTLES | _UNSURE:
        return ThrottledError()
    if code == "ValidationException":
        return _validation(error.response.get("Error", {}).get("Message", "")) or error
    return error


def _cancellation(error: ClientError) -> Exception:
    """What the items of a cancelled transaction say: a failed condition, else throttling, else validation."""
    reasons = _reasons(error)
    held = {
        position: reason.get("Item")
        for position, reason in enumerate(reasons)
        if reason.get("Code") == "ConditionalCheckFailed"
    }
    if held:
        return TransactionRefusedError(held)
    if any(reason.get("Code") in _THROTTLES for reason in reasons):
        return ThrottledError()
    for reason in reasons:
        if meaning := _validation(reason.get("Message") or ""):
            return meaning
    return error


def _validation(message: str) -> StoreError | None:
    """The two refusals of a value that only the stored item can cause."""
    lowered = message.lower()
    if "item size" in lowered and "exceeded" in lowered:
        return PayloadTooLargeError("The item would pass DynamoDB's limit.", limit=ITEM_LIMIT)
    if "number overflow" in lowered or "number underflow" in lowered or "significant digits" in lowered:
        return InvalidRequestError("The sum is out of range", path="$.increment")
    return None
