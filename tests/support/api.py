"""The API in process: the resolver over a store in memory, with all that it logs and counts."""

import io
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.typing import LambdaContext

from session_api.request_metrics import RequestMetrics
from session_api.resolver import Resolver
from session_store.store import Store
from tests.support.gateway import rest_event
from tests.support.samples import settings
from tests.support.world import World

ANYONE: Final = frozenset({"*"})
NUMBERS: Final = itertools.count()
"""Of the loggers: one name is one logger, and each API has its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def content_type(self) -> str:
        return self.headers.get("Content-Type", "")

    @property
    def slug(self) -> str:
        """Of a problem."""
        assert self.content_type == "application/problem+json"
        kind: str = self.json["type"]
        return kind.removeprefix("/problems/")


class StoreApi:
    """The API over a store; ``log`` is every line written."""

    def __init__(self, store: Store, **changes: Any) -> None:
        self._stream = io.StringIO()
        self._metrics = Metrics(namespace="Test", service="session-api")
        self._metrics.clear_metrics()
        self._resolver = Resolver(
            store=store,
            settings=settings(**{"delegates": ANYONE, **changes}),
            logger=Logger(service=f"test-{next(NUMBERS)}", level="DEBUG", stream=self._stream),
            request_metrics=RequestMetrics(metrics=self._metrics),
        )
        self._app = self._resolver.build()

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str | Sequence[str]] | None = None,
        subject: str | None = "alice",
        **event: Any,
    ) -> Answer:
        named = {} if subject is None else {"Session-Subject": subject}
        sent = rest_event(method, path, body=body, headers={**named, **(headers or {})}, **event)
        answer = self._app.resolve(self._resolver.with_encoded_path(sent), LambdaContext())
        fields = {name: values[-1] for name, values in answer["multiValueHeaders"].items()}
        return Answer(status=answer["statusCode"], headers=fields, text=answer["body"])

    def open(self, **body: object) -> str:
        """The id of a new session."""
        session_id: str = self.call("POST", "/sessions", body).json["sessionId"]
        return session_id

    @property
    def log(self) -> str:
        return self._stream.getvalue()

    def counts(self) -> dict[str, float]:
        """Everything that was counted since the last time it was asked for."""
        found = {name: sum(metric["Value"]) for name, metric in self._metrics.metric_set.items()}
        self._metrics.clear_metrics()
        return found

    def counted(self, name: str) -> float:
        """How often a metric was counted since the last time it was asked for."""
        return self.counts().get(name, 0)


class InProcessApi(StoreApi):
    """``world`` is what the answers come from."""

    def __init__(self, world: World, **changes: Any) -> None:
        super().__init__(world.store, **changes)
        self.world = world
