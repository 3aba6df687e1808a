"""Stores under test: ours, and a pattern often shown, which keeps all of a session in one item."""

import itertools
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from botocore.exceptions import ClientError

from bench.ground import TABLE
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.caller import Caller
from session_store.domain.page import PageRequest
from session_store.domain.session import Status
from session_store.domain.state_operations import StateOperations
from session_store.errors import StoreError
from session_store.services.context import NewMessage
from session_store.services.new_sessions import NewSession
from session_store.settings import Settings
from session_store.store import Store, store_on

CALLER: Final = Caller(tenant="111122223333:role/bench", subject="bench", request_id="bench")
RETRIES: Final = 3
FIRST_PAUSE: Final = 0.05
JITTER: Final = 0.02
COUNTER: Final = "count"


class RefusedError(Exception):
    """The store did not do what it was asked to."""


class Peer(Protocol):
    """What a store of sessions on DynamoDB is asked for. A peer wraps its own calls in this.

    Raises:
        RefusedError: not done.
    """

    @property
    def name(self) -> str: ...

    def open(self) -> str:
        """A new session."""

    def append(self, session: str, content: str) -> None:
        """One message more in the transcript."""

    def last(self, session: str, count: int) -> int:
        """Read the last messages; how many came."""

    def increment(self, session: str) -> None:
        """Add one to a counter of the session."""

    def counted(self, session: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Ours:
    """The use cases, as the API's function calls them."""

    store: Store
    name: str = "this store"

    @classmethod
    def on(cls, client: Any, settings: Settings) -> "Ours":  # noqa: ANN401 - boto3 makes it at run time
        deadline = Deadline()
        return cls(store_on(dynamodb_storage(settings, client, deadline), settings, deadline=deadline))

    def open(self) -> str:
        new = NewSession(
            idle_timeout=3600, max_lifetime=86_400, state={COUNTER: 0}, protocol={}, credential_refs=()
        )
        session_id = self.store.sessions.create(CALLER, new).session_id
        self.store.sessions.move(CALLER, session_id, Status.ACTIVE)
        return session_id

    def append(self, session: str, content: str) -> None:
        self.store.context.append(CALLER, session, [NewMessage(content=content)])

    def last(self, session: str, count: int) -> int:
        page = PageRequest(limit=count, descending=True)  # type: ignore[var-annotated] # no position yet
        return len(self.store.context.page(CALLER, session, page).items)

    def increment(self, session: str) -> None:
        try:
            self.store.sessions.change_state(CALLER, session, StateOperations(increment={COUNTER: 1}))
        except StoreError as error:
            raise RefusedError from error

    def counted(self, session: str) -> int:
        return int(str(self.store.sessions.get(CALLER, session).state[COUNTER]))


@dataclass(frozen=True, slots=True)
class OneItem:
    """Messages by ``list_append`` in the session's item; other fields at its version, tried again."""

    client: Any
    name: str = "one item (`list_append`)"
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def open(self) -> str:
        session = f"one-item-{next(self.numbers)}"
        values: Mapping[str, Any] = {"version": {"N": "1"}, COUNTER: {"N": "0"}, "status": {"S": "active"}}
        self.client.put_item(TableName=TABLE, Item={**_key(session), **values})
        return session

    def append(self, session: str, content: str) -> None:
        try:
            self.client.update_item(
                TableName=TABLE,
                Key=_key(session),
                UpdateExpression="SET messages = list_append(if_not_exists(messages, :none), :new), "
                "updatedAt = :now ADD version :one",
                ExpressionAttributeValues={
                    ":none": {"L": []},
                    ":new": {"L": [{"M": {"role": {"S": "user"}, "content": {"S": content}}}]},
                    ":now": {"S": "2026-01-01T00:00:00.000Z"},
                    ":one": {"N": "1"},
                },
            )
        except ClientError as error:
            raise RefusedError from error

    def last(self, session: str, count: int) -> int:
        """The list has no part that could be read alone: a projection is cut after the reading."""
        return len(self._read(session)["messages"]["L"][-count:])

    def increment(self, session: str) -> None:
        for attempt in range(RETRIES + 1):
            there = self._read(session)
            try:
                self._write(session, there)
            except ClientError as error:
                if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                    raise
                time.sleep(FIRST_PAUSE * 2**attempt + random.uniform(0, JITTER))  # noqa: S311 - a pause
            else:
                return
        raise RefusedError

    def counted(self, session: str) -> int:
        return int(self._read(session)[COUNTER]["N"])

    def _read(self, session: str) -> Mapping[str, Any]:
        item: Mapping[str, Any] = self.client.get_item(
            TableName=TABLE, Key=_key(session), ConsistentRead=True
        )["Item"]
        return item

    def _write(self, session: str, there: Mapping[str, Any]) -> None:
        self.client.update_item(
            TableName=TABLE,
            Key=_key(session),
            UpdateExpression="SET #count = :count ADD version :one",
            ConditionExpression="version = :version",
            ExpressionAttributeNames={"#count": COUNTER},
            ExpressionAttributeValues={
                ":count": {"N": str(int(there[COUNTER]["N"]) + 1)},
                ":one": {"N": "1"},
                ":version": there["version"],
            },
        )


def _key(session: str) -> dict[str, Any]:
    return {"pk": {"S": f"session#{session}"}, "sk": {"S": "metadata"}}
