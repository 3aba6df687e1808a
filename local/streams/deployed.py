"""Deployed stacks, functions and dead-letter queues, through boto3."""

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from local.streams.discards import discard_message
from local.streams.mapping import EventSourceMapping, MappingError
from local.streams.reader import Discard, ReaderClock, UnreachedError
from local.streams.responses import InvocationResult

FUNCTION_SECONDS: Final = 15 * 60
"""The longest timeout of a function."""

INVOKING: Final = Config(read_timeout=FUNCTION_SECONDS + 10, retries={"total_max_attempts": 1})
"""Configuration of the lambda client: a retry after a lost response would be a second invocation."""

SEND_ATTEMPTS: Final = 3
_SEND_PAUSE_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Stacks:
    """``references.DeployedStacks`` on boto3 clients of cloudformation and dynamodb."""

    cloudformation: Any
    dynamodb: Any
    _physical_ids: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def physical_id(self, stack: str, logical_id: str) -> str:
        if stack not in self._physical_ids:
            pages = self.cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
            self._physical_ids[stack] = {
                resource["LogicalResourceId"]: resource["PhysicalResourceId"]
                for page in pages
                for resource in page["StackResourceSummaries"]
            }
        try:
            return self._physical_ids[stack][logical_id]
        except KeyError as error:
            raise MappingError(f"{logical_id} is not deployed in {stack}") from error

    def export(self, name: str) -> str:
        for page in self.cloudformation.get_paginator("list_exports").paginate():
            for exported in page["Exports"]:
                if exported["Name"] == name:
                    value: str = exported["Value"]
                    return value
        raise MappingError(f"no stack exports {name}")

    def stream_arn(self, table: str) -> str:
        arn: str | None = self.dynamodb.describe_table(TableName=table)["Table"].get("LatestStreamArn")
        if arn is None:
            raise MappingError(f"table {table} has no stream")
        return arn


@dataclass(frozen=True, slots=True, kw_only=True)
class LambdaFunction:
    """``reader.Function`` on a lambda client created with ``INVOKING``."""

    client: Any
    arn: str

    def invoke(self, event: Mapping[str, Any]) -> InvocationResult:
        try:
            answer = self.client.invoke(FunctionName=self.arn, Payload=json.dumps(event).encode())
            payload = answer["Payload"].read()
        except (ClientError, BotoCoreError) as error:
            raise UnreachedError(f"{self.arn}: {error}") from error
        return InvocationResult(
            request_id=answer["ResponseMetadata"]["RequestId"],
            status_code=answer["StatusCode"],
            executed_version=answer.get("ExecutedVersion", "$LATEST"),
            function_error=answer.get("FunctionError"),
            payload=payload,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterSender:
    """Sends a message about each discard of a shard's reader to the mapping's queue, if it has one."""

    sqs: Any
    mapping: EventSourceMapping
    shard_id: str
    clock: ReaderClock
    say: Callable[[str], None]

    def discard(self, discard: Discard) -> None:
        """Send the message; one that cannot be sent is reported, and the shard goes on."""
        answer = discard.answer
        message = discard_message(
            discard.records,
            condition=discard.condition,
            invocations=discard.invocations,
            answer=answer,
            function_arn=self.mapping.function_arn,
            stream_arn=self.mapping.stream_arn,
            shard_id=self.shard_id,
            request_id=answer.request_id if answer is not None else str(uuid.uuid4()),
            now=self.clock.now(),
        )
        body = json.dumps(message)
        self.say(f"{self.mapping.name}: discarded {len(discard.records)} records: {discard.condition}")
        if self.mapping.dead_letter_arn is not None and not self._send(self.mapping.dead_letter_arn, body):
            self.say(f"{self.mapping.name}: the message could not be sent to the dead-letter queue: {body}")

    def _send(self, arn: str, body: str) -> bool:
        name = arn.rpartition(":")[2]
        for _ in range(SEND_ATTEMPTS):
            try:
                url = self.sqs.get_queue_url(QueueName=name)["QueueUrl"]
                self.sqs.send_message(QueueUrl=url, MessageBody=body)
            except (ClientError, BotoCoreError) as error:
                self.say(f"{self.mapping.name}: {name}: {error}")
                self.clock.sleep(_SEND_PAUSE_SECONDS)
            else:
                return True
        return False
