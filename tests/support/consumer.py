"""The stream's consumer as it is deployed, in this process, on what ``redrive.Places`` has."""

import importlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pytest
from aws_lambda_powertools.metrics.provider import cold_start
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from session_store.domain.batch_answer import failed_positions
from session_store.storage.dynamodb.stream_events import sequence_number
from tests.support.faults import Body
from tests.support.lambda_context import Context
from tests.support.redrive import Places
from tests.support.samples import REGION

MODULE: Final = "audit_consumer.handler"
WRITES: Final = (("dynamodb", "PutItem"), ("sqs", "SendMessage"), ("s3", "PutObject"))
"""All that the consumer writes, and where."""


@dataclass(frozen=True, kw_only=True)
class Consumer:
    """Events and answers are JSON, as Lambda's are."""

    module: Any

    def handle(self, records: Sequence[Mapping[str, Any]]) -> bytes:
        event = json.loads(json.dumps({"Records": list(records)}))
        return json.dumps(self.module.handler(event, Context("audit-consumer"))).encode()

    def replay(self, records: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
        """``ports.StreamReplay``."""
        return failed_positions(self.handle(records), [sequence_number(record) for record in records])

    def client(self, service: str) -> Any:
        """The product's own."""
        return {
            "dynamodb": self.module.consumer.storage.client.dynamodb,
            "sqs": self.module.consumer.cleanup.sqs,
            "s3": self.module.quarantine.s3,
        }[service]


@contextmanager
def loaded_consumer(places: Places, monkeypatch: pytest.MonkeyPatch) -> Iterator[Consumer]:
    """As a new process would import it, whose first run is a cold start."""
    variables = {
        **places.emulator.environment,
        "TABLE_NAME": places.table,
        "AUDIT_TABLE_NAME": places.audit_table,
        "SESSION_REGIONS": REGION,
        "STATUS_SHARDS": "4",
        "AUDIT_RETENTION_DAYS": "90",
        "CLEANUP_QUEUE_URL": places.urls["again"],
        "CLEANUP_DELAY_SECONDS": "0",
        "QUARANTINE_BUCKET": places.table,
        "POWERTOOLS_SERVICE_NAME": "audit-consumer",
        "POWERTOOLS_METRICS_NAMESPACE": "SessionStore",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    sys.modules.pop(MODULE, None)
    monkeypatch.setattr(cold_start, "is_cold_start", True)
    yield Consumer(module=importlib.import_module(MODULE))
    sys.modules.pop(MODULE, None)


@contextmanager
def forbidding(consumer: Consumer, item: Callable[[Mapping[str, Any]], bool]) -> Iterator[Counter[str]]:
    """While the block runs, DynamoDB denies to put such an item; counts how often it was asked to."""
    refused: Counter[str] = Counter()
    error = {"__type": "com.amazon.coral.service#AccessDeniedException", "Message": "not authorized"}

    def answer(request: Any, **_: Any) -> AWSResponse | None:
        if not item(json.loads(request.body)["Item"]):
            return None
        refused["PutItem"] += 1
        return AWSResponse(request.url, 400, HTTPHeaders(), Body(json.dumps(error).encode()))

    events = consumer.client("dynamodb").meta.events
    events.register("before-send.dynamodb.PutItem", answer)
    yield refused
    events.unregister("before-send.dynamodb.PutItem", answer)


class KilledError(BaseException):
    """Nothing in the process survives it, as nothing catches it."""


@contextmanager
def killed_at(consumer: Consumer, number: int | None, *, after: bool) -> Iterator[list[str]]:
    """The process ends at one of its writes (the first is 0), unsent or ``after`` it is done; None: at none.

    Notes the writes that were begun while the block runs.
    """
    begun: list[str] = []

    def before_send(event_name: str, **_: Any) -> None:
        begun.append(event_name.rpartition(".")[2])
        if not after and len(begun) - 1 == number:
            raise KilledError

    def after_call(**_: Any) -> None:
        if after and len(begun) - 1 == number:
            raise KilledError

    hooks = [
        (consumer.client(service).meta.events, f"{moment}.{service}.{operation}", hook)
        for service, operation in WRITES
        for moment, hook in (("before-send", before_send), ("after-call", after_call))
    ]
    for events, name, hook in hooks:
        events.register(name, hook)
    try:
        yield begun
    finally:
        for events, name, hook in hooks:
            events.unregister(name, hook)
