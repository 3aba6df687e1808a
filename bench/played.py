"""The functions in this process, on an emulator of their own: a call, what follows it, and what it takes."""

import contextlib
import importlib
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from bench.ground import AUDIT_TABLE, TABLE, Context, environment
from bench.prices import Usage
from bench.spending import LINE_BYTES, Spending, Spent, item_bytes
from local.emulator import Emulator
from local.streams.records import TTL_IDENTITY
from local.streams.source import ShardSource, Stream
from local.streams.swept import SweptRecords
from session_store.schema import (
    PAYLOADS,
    SESSION_SK,
    BusEnv,
    CleanupEnv,
    PayloadEnv,
    StreamEnv,
    WatchEnv,
    session_pk,
)
from session_store.storage.integrations.aws_clients import aws_session
from tests.support.gateway import rest_event
from tests.support.tables import create_tables

NAME: Final = "bench-costs"
PACKAGES: Final = ("session_api", "audit_consumer", "expiry_cleanup", "expiry_watch")


class Played:
    def __init__(self, emulator: Emulator, folder: Path) -> None:
        self._dynamodb = emulator.client("dynamodb")
        self._sqs = emulator.client("sqs")
        self._queue = self._sqs.create_queue(QueueName=NAME)["QueueUrl"]
        emulator.client("s3").create_bucket(Bucket=NAME)
        emulator.client("events").create_event_bus(Name=NAME)
        create_tables(self._dynamodb, table=TABLE, audit_table=AUDIT_TABLE)
        stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        described = self._dynamodb.update_table(TableName=TABLE, StreamSpecification=stream)
        self._source = _source(emulator, described["TableDescription"]["LatestStreamArn"], folder)
        os.environ.update(self._environment(emulator))
        emitter = aws_session().get_component("event_emitter")
        self._spending = Spending(self._dynamodb, emitter)
        self._log = io.StringIO()
        self._functions = {package: self._loaded(package) for package in PACKAGES}
        # The first call of a function counts a cold start.
        self.call("GET", "/health")

    def _environment(self, emulator: Emulator) -> Mapping[str, str]:
        return {
            **environment(emulator),
            StreamEnv.AUDIT_DIGESTED.value: ",".join(PAYLOADS),
            StreamEnv.CLEANUP_QUEUE_URL.value: self._queue,
            StreamEnv.CLEANUP_DELAY_SECONDS.value: "0",
            StreamEnv.QUARANTINE_BUCKET.value: NAME,
            PayloadEnv.PAYLOAD_BUCKET.value: NAME,
            BusEnv.EVENT_BUS_NAME.value: NAME,
            CleanupEnv.CREDENTIAL_PREFIX.value: NAME,
            WatchEnv.EXPIRING_WITHIN_SECONDS.value: "900",
        }

    def _loaded(self, package: str) -> ModuleType:
        os.environ["POWERTOOLS_SERVICE_NAME"] = package.replace("_", "-")
        with contextlib.redirect_stdout(self._log):
            return importlib.import_module(f"{package}.handler")

    def _invoke(self, package: str, event: Mapping[str, Any]) -> Any:  # noqa: ANN401 - parsed JSON is any shape
        """Its lines count as the function's; what was spent is told by ``taken``."""
        with contextlib.redirect_stdout(self._log):
            answer = self._functions[package].handler(json.loads(json.dumps(event)), Context(package))
        self._spending.now.invocations += 1
        return answer

    def _taken(self) -> Spent:
        spent = self._spending.taken()
        lines = self._log.getvalue().splitlines()
        spent.log_bytes = sum(len(line.encode()) + LINE_BYTES for line in lines)
        self._log.seek(0)
        self._log.truncate()
        return spent

    def call(
        self, method: str, path: str, body: object = None, *, headers: Mapping[str, str] | None = None
    ) -> tuple[Any, Spent]:
        """The answer of the API, which succeeds, and what the request took; ``path`` may hold a query."""
        target, _, query = path.partition("?")
        parameters = dict(part.split("=") for part in query.split("&") if part)
        named = {"Session-Subject": "alice", **(headers or {})}
        event = rest_event(method, target, body=body, headers=named, query=parameters)
        answer = self._invoke("session_api", event)
        assert answer["statusCode"] < 300, answer
        return json.loads(answer["body"] or "null"), self._taken()

    def audited(self) -> Spent:
        """What the stream's consumer takes for all that changed since it was last asked: one batch."""
        while records := self._source.read().records:
            told = [_by_time(record) for record in records]
            assert self._invoke("audit_consumer", {"Records": told}) == {"batchItemFailures": []}
            self._spending.now.records += len(records)
        return self._taken()

    def expired(self, session_id: str) -> Usage:
        """What follows when TTL, which costs nothing, has deleted a session."""
        key = {"pk": {"S": session_pk(session_id)}, "sk": {"S": SESSION_SK}}
        self._dynamodb.delete_item(TableName=TABLE, Key=key)
        return self.ended()

    def ended(self) -> Usage:
        """What follows when a session is gone."""
        told = self.audited()
        for message in self._messages():
            record = {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "eventSource": "aws:sqs",
            }
            assert self._invoke("expiry_cleanup", {"Records": [record]}) == {"batchItemFailures": []}
            # The service received it, and deletes it.
            self._spending.now.messages += 2
        erased = self._taken()
        # The consumer has to look at the removal of each child too.
        return told.usage() + erased.usage() + self.audited().usage()

    def _messages(self) -> Iterator[Mapping[str, Any]]:
        for message in self._sqs.receive_message(QueueUrl=self._queue).get("Messages", ()):
            yield message
            self._sqs.delete_message(QueueUrl=self._queue, ReceiptHandle=message["ReceiptHandle"])

    def watched(self) -> Spent:
        """A run of the watch over session ends."""
        self._invoke("expiry_watch", {})
        return self._taken()

    def stored(self, session_id: str) -> tuple[int, int]:
        """Bytes under a session's key, in the table and in the audit table."""
        of_session, of_trail = (
            sum(map(item_bytes, self._under(session_id, table))) for table in (TABLE, AUDIT_TABLE)
        )
        return of_session, of_trail

    def _under(self, session_id: str, table: str) -> Sequence[Mapping[str, Any]]:
        items: Sequence[Mapping[str, Any]] = self._dynamodb.query(
            TableName=table,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": session_pk(session_id)}},
        )["Items"]
        return items


def _by_time(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A removal as if DynamoDB had done it, because the item's time was over."""
    return {**record, "userIdentity": TTL_IDENTITY} if record["eventName"] == "REMOVE" else record


def _source(emulator: Emulator, arn: str, folder: Path) -> ShardSource:
    stream = Stream(client=emulator.client("dynamodbstreams"), arn=arn)
    (shard,) = stream.shards()
    swept = SweptRecords(folder / "swept.jsonl")
    return ShardSource(stream=stream, shard_id=shard.shard_id, after=None, swept=swept, say=print)
