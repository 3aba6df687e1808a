"""``python -m local.ear``: print the events of the bus as they arrive, until Ctrl-C.

It is an ordinary consumer: a rule on the bus that sends all events of the store to a queue.
"""

import contextlib
import json
import secrets
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from infra import names
from local.access import STATE, Access, NotRunningError
from local.credentials import OPERATOR
from local.deployment import STAGE
from session_store.schema import EVENT_SOURCE

NAME_PREFIX: Final = "ear-"
"""Prefix of rules and queues that the local stack's operator may create."""

TARGET: Final = "queue"
PATIENCE: Final = 120.0
WAIT_SECONDS: Final = 1


class Clients(Protocol):
    """Creates the client of a service by name."""

    def client(self, service: str) -> Any: ...  # noqa: ANN401 - as local.clients


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardEvent:
    source: str
    name: str
    detail: Mapping[str, Any]


class Ear:
    """Receives events from its creation on."""

    def __init__(self, clients: Clients, *, bus: str) -> None:
        self._events, self._sqs, self._bus = clients.client("events"), clients.client("sqs"), bus
        self._name = f"{NAME_PREFIX}{secrets.token_hex(4)}"
        self._url = self._sqs.create_queue(QueueName=self._name)["QueueUrl"]
        attributes = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])
        queue = attributes["Attributes"]["QueueArn"]
        pattern = json.dumps({"source": [EVENT_SOURCE]})
        rule = self._events.put_rule(Name=self._name, EventBusName=bus, EventPattern=pattern, State="ENABLED")
        policy = json.dumps(_may_send(queue, rule=rule["RuleArn"]))
        self._sqs.set_queue_attributes(QueueUrl=self._url, Attributes={"Policy": policy})
        self._events.put_targets(Rule=self._name, EventBusName=bus, Targets=[{"Id": TARGET, "Arn": queue}])

    def close(self) -> None:
        self._events.remove_targets(Rule=self._name, EventBusName=self._bus, Ids=[TARGET])
        self._events.delete_rule(Name=self._name, EventBusName=self._bus)
        self._sqs.delete_queue(QueueUrl=self._url)

    def hear_of(
        self, session_id: str, *, name: str | None = None, patience: float = PATIENCE
    ) -> Sequence[HeardEvent]:
        """Wait for events of one session, with that ``name`` if given; drop all others."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            heard = [
                event
                for event in self.received()
                if event.detail["sessionId"] == session_id and name in {None, event.name}
            ]
            if heard:
                return heard
        return []

    def hear(self, count: int) -> Sequence[HeardEvent]:
        """Wait for at least ``count`` events; fewer after a timeout."""
        heard: list[HeardEvent] = []
        until = time.monotonic() + PATIENCE
        while len(heard) < count and time.monotonic() < until:
            heard += self.received()
        return heard

    def received(self) -> Sequence[HeardEvent]:
        """Events received since the last call; waits a second for the first."""
        answer = self._sqs.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=10, WaitTimeSeconds=WAIT_SECONDS
        )
        messages = answer.get("Messages", [])
        for message in messages:
            self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        events = [json.loads(message["Body"]) for message in messages]
        return [
            HeardEvent(source=event["source"], name=event["detail-type"], detail=event["detail"])
            for event in events
        ]


@contextlib.contextmanager
def listening(clients: Clients, *, bus: str) -> Iterator[Ear]:
    """An ``Ear`` for the block; its rule and queue are deleted afterwards."""
    ear = Ear(clients, bus=bus)
    try:
        yield ear
    finally:
        ear.close()


def _may_send(queue: str, *, rule: str) -> Mapping[str, object]:
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": queue,
        "Condition": {"ArnEquals": {"aws:SourceArn": rule}},
    }
    return {"Version": "2012-10-17", "Statement": [statement]}


def main() -> int:
    try:
        operator = Access.read(STATE).principal(OPERATOR)
        with listening(operator, bus=names.event_bus(STAGE)) as ear:
            print("listening to the event bus; press Ctrl-C to stop", file=sys.stderr)
            while True:
                for event in ear.received():
                    print(json.dumps({"event": event.name, **event.detail}), flush=True)
    except KeyboardInterrupt:
        return 0
    except (BotoCoreError, ClientError, NotRunningError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
