"""Ways to do a piece of work once: a call and a key of this store, and Powertools' idempotency layer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)

from bench.ground import Context
from bench.peers import CALLER, Ours
from session_store.domain.json_values import JsonValue
from session_store.services.free_claims import NewClaim
from session_store.services.tool_calls.begin import NewCall
from session_store.settings import Settings
from session_store.store import Store

IDEMPOTENCY_TABLE: Final = "idempotency"
POWERTOOLS: Final = "Powertools idempotency"
TOOL: Final = "search"
INPUT: Final[Mapping[str, str]] = {"q": "x"}


class Once(Protocol):
    """A way to do work once. ``doubled``: its completion is a transaction, whose units count twice."""

    @property
    def name(self) -> str: ...

    @property
    def doubled(self) -> bool: ...

    def do(self, work: str, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the work brings
        """``act()``, or what it brought before, under this name of the work."""


@dataclass(frozen=True, slots=True)
class Call:
    """In a session of its own."""

    store: Store
    session_id: str
    name: str = "this store, tool call"
    doubled: bool = True

    @classmethod
    def on(cls, client: Any, settings: Settings) -> "Call":  # noqa: ANN401 - boto3 makes it at run time
        ours = Ours.on(client, settings)
        return cls(ours.store, ours.open())

    def do(self, work: str, act: Callable[[], JsonValue]) -> JsonValue:
        new = NewCall(tool_call_id=work, tool_name=TOOL, input=dict(INPUT))
        with self.store.tool_call(CALLER, self.session_id, new) as call:
            if not call.finished:
                call.complete(act())
        return call.output


@dataclass(frozen=True, slots=True)
class Key:
    store: Store
    name: str = "this store, free key"
    doubled: bool = False

    @classmethod
    def on(cls, client: Any, settings: Settings) -> "Key":  # noqa: ANN401 - boto3 makes it at run time
        return cls(Ours.on(client, settings).store)

    def do(self, work: str, act: Callable[[], JsonValue]) -> JsonValue:
        with self.store.claim(CALLER, work, NewClaim(input=dict(INPUT))) as claim:
            if not claim.finished:
                claim.complete(act())
        return claim.output


@dataclass(frozen=True, slots=True)
class Powertools:
    """With the invocation's time as the claim's, as its decorator of a handler has it."""

    layer: Any
    config: IdempotencyConfig
    name: str = POWERTOOLS
    doubled: bool = False

    @classmethod
    def on(cls, client: Any, _: Settings) -> "Powertools":  # noqa: ANN401 - boto3 makes it at run time
        config = IdempotencyConfig()
        config.register_lambda_context(Context("bench"))
        return cls(DynamoDBPersistenceLayer(table_name=IDEMPOTENCY_TABLE, boto3_client=client), config)

    def do(self, work: str, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the work brings
        def done(*, asked: Mapping[str, object]) -> Any:  # noqa: ANN401 - likewise
            del asked
            return act()

        once = idempotent_function(
            done, data_keyword_argument="asked", persistence_store=self.layer, config=self.config
        )
        return once(asked={"work": work, "input": INPUT})


def create_idempotency_table(client: Any) -> None:  # noqa: ANN401 - boto3 makes it at run time
    """As Powertools' documentation has it."""
    client.create_table(
        TableName=IDEMPOTENCY_TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
