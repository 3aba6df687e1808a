"""Any one write of whatever a client sends, done, and its answer lost."""

import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ConnectionClosedError

from session_store.deadline import Deadline

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WRITES: Final = ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem")


@dataclass
class Losses:
    """Counts the writes that are done. ``lose(n)``: the n-th from now (the first is 0) loses its answer.

    ``and_the_time``: with the answer the time of the request is lost too, so that nothing
    is sent again but by whoever asked.
    """

    deadline: Deadline
    done: list[str] = field(default_factory=list)
    lost: int = 0
    _at: int | None = None
    _and_the_time: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def lose(self, number: int | None, *, and_the_time: bool = False) -> None:
        self.deadline.expires_in(float("inf"))
        self.done.clear()
        self.lost = 0
        self._at = number
        self._and_the_time = and_the_time

    def after_call(self, model: Any, http_response: Any, **_: Any) -> None:
        if http_response.status_code != HTTPStatus.OK:
            return
        with self._lock:
            self.done.append(model.name)
            if self._at != len(self.done) - 1:
                return
            self._at = None
            self.lost += 1
        if self._and_the_time:
            self.deadline.expires_in(0)
        raise ConnectionClosedError(endpoint_url="http://127.0.0.1")


def losses_of(client: "DynamoDBClient", deadline: Deadline) -> Losses:
    losses = Losses(deadline)
    for operation in WRITES:
        client.meta.events.register(f"after-call.dynamodb.{operation}", losses.after_call)
    return losses
