"""Listens to the store's event bus; ``python -m local.event_listener`` prints its events until Ctrl-C.

It is an ordinary receiver: a rule on the bus that matches the store's events, with a queue as its target.
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

NAME_PREFIX: Final = "listener-"
"""Of the rules and queues that the local operator may create."""

TARGET: Final = "queue"
MAX_WAIT_SECONDS: Final = 30.0
WAIT_SECONDS: Final = 1


class AwsClients(Protocol):
    """Creates the boto3 client of a service."""

    def client(self, service: str) -> Any: ...  # noqa: ANN401 - as local.clients


@dataclass(frozen=True, slots=True, kw_only=True)
class BusEvent:
    source: str
    name: str
    detail: Mapping[str, Any]


class EventListener:
    """Receives the events published after its creation."""

    def __init__(self, clients: AwsClients, *, bus: str) -> None:
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

    def wait_for_session(
        self, session_id: str, *, name: str | None = None, max_wait_seconds: float = MAX_WAIT_SECONDS
    ) -> Sequence[BusEvent]:
        """Wait for events of one session, of that ``name`` if given; others are dropped.

        Returns none after ``max_wait_seconds``.
        """
        until = time.monotonic() + max_wait_seconds
        while time.monotonic() < until:
            events = [
                event
                for event in self.receive()
                if event.detail["sessionId"] == session_id and name in {None, event.name}
            ]
            if events:
                return events
        return []

    def wait_for_events(self, count: int) -> Sequence[BusEvent]:
        """Wait for at least ``count`` events; fewer are returned after ``MAX_WAIT_SECONDS``."""
        events: list[BusEvent] = []
        until = time.monotonic() + MAX_WAIT_SECONDS
        while len(events) < count and time.monotonic() < until:
            events += self.receive()
        return events

    def receive(self) -> Sequence[BusEvent]:
        """Receive the events in the queue, each once; waits up to a second for the first."""
        answer = self._sqs.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=10, WaitTimeSeconds=WAIT_SECONDS
        )
        messages = answer.get("Messages", [])
        for message in messages:
            self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        events = [json.loads(message["Body"]) for message in messages]
        return [
            BusEvent(source=event["source"], name=event["detail-type"], detail=event["detail"])
            for event in events
        ]


@contextlib.contextmanager
def listening(clients: AwsClients, *, bus: str) -> Iterator[EventListener]:
    """Listen to ``bus`` for the time of the block; rule and queue are deleted after it."""
    listener = EventListener(clients, bus=bus)
    try:
        yield listener
    finally:
        listener.close()


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
        with listening(operator, bus=names.event_bus(STAGE)) as listener:
            print("listening to the event bus; Ctrl-C stops", file=sys.stderr)
            while True:
                for event in listener.receive():
                    print(json.dumps({"event": event.name, **event.detail}), flush=True)
    except KeyboardInterrupt:
        return 0
    except (BotoCoreError, ClientError, NotRunningError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
