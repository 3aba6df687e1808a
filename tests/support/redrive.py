"""Dead letters in the emulator: a stream, its consumer, the queues and the bucket, and what redrives them."""

import io
import json
import secrets
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from local.emulator import Emulator
from local.streams.discards import DiscardCondition, discard_message
from local.streams.records import event_record
from local.streams.responses import InvocationResult
from session_store.deadline import Deadline
from session_store.domain.dead_letter import QueueName, RedriveReport
from session_store.domain.session_end import SessionEnd
from session_store.ports import StreamReplay
from session_store.services.dead_letters import DeadLetters
from session_store.services.replays import Replays
from session_store.storage.dynamodb.stream_history import StreamHistory
from session_store.storage.integrations.cleanup_queue import SqsCleanupQueue, message_of
from session_store.storage.integrations.consumer_function import ConsumerFunction
from session_store.storage.integrations.dead_letter_queue import SqsDeadLetterQueue, read_session_end
from session_store.storage.integrations.discarded_records import pointer_reader
from session_store.storage.integrations.quarantine_bucket import QuarantineBucket
from tests.support.samples import OPERATOR
from tests.support.tables import create_tables

MOST_PAGES: Final = 20
_CODE: Final = """
import json, os

def handler(event, context):
    poison = open(os.environ["POISON"]).read().split()
    numbers = [record["dynamodb"]["SequenceNumber"] for record in event["Records"]]
    with open(os.environ["SEEN"], "a") as seen:
        seen.writelines(json.dumps(r) + "\\n" for r, n in zip(event["Records"], numbers) if n not in poison)
    return {"batchItemFailures": [{"itemIdentifier": n} for n in numbers if n in poison]}
"""
"""Writes what it takes to a file of this machine, and takes nothing that another file names."""


@dataclass(frozen=True, kw_only=True)
class Places:
    """What is deployed; each client is a test's own, so that what it hooks into one goes with it."""

    emulator: Emulator
    folder: Path
    name: str
    urls: Mapping[str, str]
    stream: str
    _clients: dict[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> str:
        return f"redrive-{self.name}"

    @property
    def audit_table(self) -> str:
        return f"redrive-audit-{self.name}"

    def client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self.emulator.client(service)
        return self._clients[service]

    def put(self, count: int) -> None:
        """As many items as the stream then tells of."""
        for number in range(count):
            item = {"pk": {"S": f"session#{secrets.token_hex(8)}"}, "sk": {"S": f"item-{number}"}}
            self.client("dynamodb").put_item(TableName=self.table, Item=item)

    def records(self) -> list[Mapping[str, Any]]:
        """All of the stream, in Lambda's form."""
        streams = self.client("dynamodbstreams")
        place = {"StreamArn": self.stream, "ShardId": self.shard_id}
        iterator = streams.get_shard_iterator(ShardIteratorType="TRIM_HORIZON", **place)["ShardIterator"]
        found: list[Mapping[str, Any]] = []
        for _ in range(MOST_PAGES):
            page = streams.get_records(ShardIterator=iterator)
            found += [event_record(record, stream_arn=self.stream) for record in page["Records"]]
            if not page["Records"]:
                return found
            iterator = page["NextShardIterator"]
        raise AssertionError("the stream has no end")

    @property
    def shard_id(self) -> str:
        streams = self.client("dynamodbstreams")
        (shard,) = streams.describe_stream(StreamArn=self.stream)["StreamDescription"]["Shards"]
        shard_id: str = shard["ShardId"]
        return shard_id

    def discard(self, records: Sequence[Mapping[str, Any]], *, shard_id: str | None = None) -> None:
        """What Lambda sends where these records were given up."""
        letter = discard_message(
            records,
            condition=DiscardCondition.RETRY_ATTEMPTS_EXHAUSTED,
            invocations=3,
            answer=InvocationResult(request_id="request", function_error="Unhandled"),
            function_arn="arn:aws:lambda:us-east-1:000000000000:function:consumer",
            stream_arn=self.stream,
            shard_id=shard_id or self.shard_id,
            request_id="request",
            now=1_800_000_000,
        )
        self.send("stream", json.dumps(letter))

    def discard_end(self, end: SessionEnd) -> None:
        self.send("cleanup", message_of(end))

    def send(self, queue: str, body: str) -> None:
        self.client("sqs").send_message(QueueUrl=self.urls[queue], MessageBody=body)

    def quarantine(self, *names: str) -> None:
        bucket = QuarantineBucket(s3=self.client("s3"), bucket=self.table)
        for name in names:
            bucket.keep({"record": name}, name=name, reason="not understood")

    def bodies(self, queue: str) -> list[str]:
        """Of all that lies in a queue, which it then loses."""
        sqs, url = self.client("sqs"), self.urls[queue]
        found = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        return [message["Body"] for message in found]

    def poison(self, *numbers: str) -> None:
        (self.folder / "poison").write_text(" ".join(numbers))

    def seen(self) -> list[Mapping[str, Any]]:
        """What the consumer took, in its order."""
        file = self.folder / "seen"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def queue(self, name: QueueName) -> SqsDeadLetterQueue:
        read = pointer_reader(self.table) if name is QueueName.STREAM else read_session_end
        # The emulator is one server: what it does not give is not there.
        return SqsDeadLetterQueue(sqs=self.client("sqs"), url=self.urls[name.value], read=read, wait=0)

    def dead_letters(self, *, consumer: StreamReplay | None = None) -> DeadLetters:
        deadline = Deadline()
        return DeadLetters(
            queues={name: self.queue(name) for name in QueueName},
            replays=Replays(
                history=StreamHistory(streams=self.client("dynamodbstreams"), deadline=deadline),
                consumer=consumer or ConsumerFunction(client=self.client("lambda"), name=self.table),
                deadline=deadline,
                batch_seconds=10,
            ),
            cleanup=SqsCleanupQueue(sqs=self.client("sqs"), url=self.urls["again"], delay=0),
            quarantine=QuarantineBucket(s3=self.client("s3"), bucket=self.table),
            deadline=deadline,
            letter_seconds=12,
        )

    def redrive(self, *, consumer: StreamReplay | None = None, most: int = 20) -> RedriveReport:
        return self.dead_letters(consumer=consumer).redrive(OPERATOR, queue=None, most=most)

    def trim(self, *, horizon: str) -> None:
        """For the client of the stream: all before ``horizon`` (a sequence number) is gone."""
        events = self.client("dynamodbstreams").meta.events

        def from_horizon(params: dict[str, Any], **_: Any) -> None:
            if params["ShardIteratorType"] == "TRIM_HORIZON":
                params |= {"ShardIteratorType": "AT_SEQUENCE_NUMBER", "SequenceNumber": horizon}

        def refuse(params: Mapping[str, Any], **_: Any) -> object:
            place = json.loads(params["body"]).get("SequenceNumber")
            if place is None or int(place) >= int(horizon):
                return None
            error = {"Code": "TrimmedDataAccessException", "Message": "beyond the trim horizon"}
            return SimpleNamespace(status_code=400), {"Error": error, "ResponseMetadata": {}}

        events.register("provide-client-params.dynamodb-streams.GetShardIterator", from_horizon)
        # botocore reads what a handler returns; its types say that handlers return nothing
        events.register("before-call.dynamodb-streams.GetShardIterator", refuse)

    def break_removals(self, count: int) -> None:
        """The connection breaks before the first ``count`` letters are removed."""
        left = iter(range(count))

        def broken(**_: Any) -> object:
            if next(left, None) is None:
                return None
            error = {"Code": "InternalError", "Message": "try again"}
            status = {"HTTPStatusCode": 500}
            return SimpleNamespace(status_code=500), {"Error": error, "ResponseMetadata": status}

        self.client("sqs").meta.events.register("before-call.sqs.DeleteMessage", broken)


@contextmanager
def deployed_places(emulator: Emulator, folder: Path) -> Iterator[Places]:
    name = secrets.token_hex(4)
    sqs, dynamodb, functions = (emulator.client(service) for service in ("sqs", "dynamodb", "lambda"))
    urls = {
        queue: sqs.create_queue(QueueName=f"redrive-{queue}-{name}")["QueueUrl"]
        for queue in ("stream", "cleanup", "again")
    }
    table = f"redrive-{name}"
    create_tables(dynamodb, table=table, audit_table=f"redrive-audit-{name}")
    specification = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    dynamodb.update_table(TableName=table, StreamSpecification=specification)
    stream = dynamodb.describe_table(TableName=table)["Table"]["LatestStreamArn"]
    emulator.client("s3").create_bucket(Bucket=table)
    (folder / "poison").write_text("")
    functions.create_function(
        FunctionName=table,
        Runtime="python3.13",
        Handler="index.handler",
        Role=_role(emulator, name),
        Code={"ZipFile": _zipped(_CODE)},
        Timeout=10,
        Environment={"Variables": {"SEEN": str(folder / "seen"), "POISON": str(folder / "poison")}},
    )
    yield Places(emulator=emulator, folder=folder, name=name, urls=urls, stream=stream)
    functions.delete_function(FunctionName=table)
    for url in urls.values():
        sqs.delete_queue(QueueUrl=url)
    dynamodb.delete_table(TableName=table)
    dynamodb.delete_table(TableName=f"redrive-audit-{name}")


def _role(emulator: Emulator, name: str) -> str:
    trust = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}
    role = emulator.client("iam").create_role(
        RoleName=f"redrive-{name}",
        AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [trust]}),
    )
    arn: str = role["Role"]["Arn"]
    return arn


def _zipped(code: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("index.py", code)
    return file.getvalue()
