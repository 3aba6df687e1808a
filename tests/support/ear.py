"""A receiver of the event bus: a rule that hands everything of ours to a queue, and what arrives there."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from local.emulator import Emulator
from session_store.schema import EVENT_SOURCE

TRIES: Final = 30
"""Of a second each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardEvent:
    source: str
    name: str
    detail: Mapping[str, Any]


class Ear:
    def __init__(self, emulator: Emulator, *, bus: str) -> None:
        events, self._sqs = emulator.client("events"), emulator.client("sqs")
        name = f"ear-{secrets.token_hex(4)}"
        self._url = self._sqs.create_queue(QueueName=name)["QueueUrl"]
        attributes = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])
        pattern = json.dumps({"source": [EVENT_SOURCE]})
        events.put_rule(Name=name, EventBusName=bus, EventPattern=pattern, State="ENABLED")
        target = {"Id": "queue", "Arn": attributes["Attributes"]["QueueArn"]}
        events.put_targets(Rule=name, EventBusName=bus, Targets=[target])

    def hear_of(self, session_id: str) -> Sequence[HeardEvent]:
        """What is told of one session until something is, among all that is told of others."""
        heard: list[HeardEvent] = []
        for _ in range(2 * TRIES):
            heard += [event for event in self._received() if event.detail["sessionId"] == session_id]
            if heard:
                break
        return heard

    def hear(self, count: int) -> Sequence[HeardEvent]:
        """At least ``count`` events, or what came within half a minute."""
        heard: list[HeardEvent] = []
        for _ in range(TRIES):
            heard += self._received()
            if len(heard) >= count:
                break
        return heard

    def _received(self) -> list[HeardEvent]:
        answer = self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        events = [json.loads(message["Body"]) for message in answer.get("Messages", [])]
        return [
            HeardEvent(source=event["source"], name=event["detail-type"], detail=event["detail"])
            for event in events
        ]
