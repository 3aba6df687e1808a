"""The client over stubbed answers of DynamoDB."""

from collections.abc import Callable
from typing import Any, Final

import boto3
from botocore.stub import Stubber

from session_store.deadline import Deadline
from session_store.storage.dynamodb.attempts import Attempts
from session_store.storage.dynamodb.client import Client

KEY: Final = {"pk": {"S": "p"}, "sk": {"S": "s"}}
ITEM: Final = {**KEY, "n": {"N": "1"}}


class Stubbed:
    """A client of stubbed answers; ``pauses`` and ``spans`` are what its retries asked for."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self.spans: list[tuple[float, float]] = []
        dynamodb = boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="s"
        )
        self.stubber = Stubber(dynamodb)
        self.deadline = Deadline(monotonic=lambda: self.now)
        attempts = Attempts(deadline=self.deadline, sleep=self._sleep, uniform=self._uniform)
        self.client = Client(dynamodb=dynamodb, table="sessions", attempts=attempts)

    def _sleep(self, pause: float) -> None:
        self.pauses.append(pause)
        self.now += pause

    def _uniform(self, low: float, high: float) -> float:
        self.spans.append((low, high))
        return high

    def fails(
        self, method: str, code: str, message: str = "", *, status: int = 400, times: int = 1, **answer: Any
    ) -> None:
        for _ in range(times):
            self.stubber.add_client_error(
                method, code, message, http_status_code=status, modeled_fields=answer
            )

    def cancels(self, *codes: str, times: int = 1, **reason: Any) -> None:
        """Cancel a transaction; ``reason`` belongs to its last item."""
        reasons: list[dict[str, Any]] = [{"Code": code} for code in codes]
        reasons[-1].update(reason)
        self.fails(
            "transact_write_items", "TransactionCanceledException", times=times, CancellationReasons=reasons
        )

    def loses(self, error: Exception) -> None:
        """Fail every call with an error of the connection."""

        def raise_(**_: object) -> None:
            raise error

        self.client.dynamodb.meta.events.register("provide-client-params.dynamodb", raise_)

    def transact(self) -> None:
        self.client.transact([{"Put": {"TableName": "sessions", "Item": ITEM}}], token="t")


WRITES: Final[dict[str, Callable[[Stubbed], object]]] = {
    "put_item": lambda stubbed: stubbed.client.put(ITEM),
    "update_item": lambda stubbed: stubbed.client.update(KEY, UpdateExpression="SET a = b"),
    "batch_write_item": lambda stubbed: stubbed.client.delete_all([KEY]),
    "transact_write_items": lambda stubbed: stubbed.transact(),
}
READS: Final[dict[str, Callable[[Stubbed], object]]] = {
    "get_item": lambda stubbed: stubbed.client.get(KEY),
    "query": lambda stubbed: stubbed.client.query(),
    "batch_get_item": lambda stubbed: stubbed.client.get_all([KEY]),
}
