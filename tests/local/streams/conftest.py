"""A small application in the emulator: a table, a function on its stream, a dead-letter queue."""

import json
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pytest

from local.delivery import delivering
from local.deployment import DEPLOYED_TEMPLATES
from local.emulator import Emulator
from local.streams.mapping import EventSourceMapping
from local.streams.reader import Pauses
from local.streams.runner import Intervals
from local.streams.templates import keep_templates, read_stacks, without_stream_mappings

STACK: Final = "stream-delivery"
WAIT_SECONDS: Final = 120
INTERVALS: Final = Intervals(
    shards=0.2, sweep=0.2, restart=0.2, reading=Pauses(poll=0.05, first_retry=0.01, longest_retry=0.05)
)

_CODE: Final = """
import json, os, time

def handler(event, context):
    records = event["Records"]
    images = [record["dynamodb"].get("NewImage") or record["dynamodb"]["OldImage"] for record in records]
    kinds = [image.get("behaviour", {}).get("S") for image in images]
    if "raise" in kinds:
        raise ValueError("poison")
    if "crash" in kinds:
        os._exit(1)
    if "hang" in kinds:
        time.sleep(60)
    failed = kinds.index("report") if "report" in kinds else len(kinds)
    with open(os.environ["SEEN"], "a") as seen:
        seen.writelines(json.dumps(record) + "\\n" for record in records[:failed])
    if failed < len(records):
        return {"batchItemFailures": [{"itemIdentifier": records[failed]["dynamodb"]["SequenceNumber"]}]}
"""
"""Writes the records it accepts to a local file, and fails when a record says so."""


def _template(name: str, *, seen: Path) -> dict[str, Any]:
    trusts = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "lambda.amazonaws.com"}}
    filters = {
        "Filters": [
            {"Pattern": json.dumps({"dynamodb": {"Keys": {"pk": {"S": [{"anything-but": "ignored"}]}}}})}
        ]
    }
    return {
        "Resources": {
            "Table": {
                "Type": "AWS::DynamoDB::Table",
                "Properties": {
                    "TableName": name,
                    "BillingMode": "PAY_PER_REQUEST",
                    "KeySchema": [
                        {"AttributeName": "pk", "KeyType": "HASH"},
                        {"AttributeName": "sk", "KeyType": "RANGE"},
                    ],
                    "AttributeDefinitions": [
                        {"AttributeName": "pk", "AttributeType": "S"},
                        {"AttributeName": "sk", "AttributeType": "S"},
                    ],
                    "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"},
                },
            },
            "DeadLetters": {"Type": "AWS::SQS::Queue"},
            "Role": {
                "Type": "AWS::IAM::Role",
                "Properties": {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trusts]}},
            },
            "Consumer": {
                "Type": "AWS::Lambda::Function",
                "Properties": {
                    "Runtime": "python3.13",
                    "Handler": "index.handler",
                    "Role": {"Fn::GetAtt": ["Role", "Arn"]},
                    "Code": {"ZipFile": _CODE},
                    "Timeout": 3,
                    "Environment": {"Variables": {"SEEN": str(seen)}},
                },
            },
            "Mapping": {
                "Type": "AWS::Lambda::EventSourceMapping",
                "Properties": {
                    "EventSourceArn": {"Fn::GetAtt": ["Table", "StreamArn"]},
                    "FunctionName": {"Ref": "Consumer"},
                    "StartingPosition": "TRIM_HORIZON",
                    "BatchSize": 10,
                    "BisectBatchOnFunctionError": True,
                    "MaximumRetryAttempts": 1,
                    "FunctionResponseTypes": ["ReportBatchItemFailures"],
                    "FilterCriteria": filters,
                    "DestinationConfig": {
                        "OnFailure": {"Destination": {"Fn::GetAtt": ["DeadLetters", "Arn"]}}
                    },
                },
            },
        }
    }


@dataclass(frozen=True, kw_only=True)
class Application:
    """The deployed application, with a state folder separate from the real stack's."""

    emulator: Emulator
    table: str
    function: str
    dead_letter_queue: str
    _clients: dict[str, Any] = field(default_factory=dict, init=False)

    def client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self.emulator.client(service)
        return self._clients[service]

    def put(self, pk: str, sk: str, **attributes: Any) -> None:
        item = {"pk": {"S": pk}, "sk": {"S": sk}, **attributes}
        self.client("dynamodb").put_item(TableName=self.table, Item=item)

    def delete(self, pk: str, sk: str) -> None:
        self.client("dynamodb").delete_item(TableName=self.table, Key={"pk": {"S": pk}, "sk": {"S": sk}})

    def delivering(self, said: list[str]) -> AbstractContextManager[Sequence[EventSourceMapping]]:
        return delivering(
            self.emulator, ttl_tables=[self.table], ttl_attribute="ttl", say=said.append, intervals=INTERVALS
        )

    def throttle(self) -> None:
        """The function is not invoked until ``unthrottle``."""
        self.client("lambda").put_function_concurrency(
            FunctionName=self.function, ReservedConcurrentExecutions=0
        )

    def unthrottle(self) -> None:
        self.client("lambda").delete_function_concurrency(FunctionName=self.function)

    def seen(self, pk: str, *, count: int) -> list[Any]:
        """The records of this partition that the function took, as soon as there are ``count``."""
        file = self.emulator.state / "seen.jsonl"
        found: list[Any] = []

        def enough() -> bool:
            whole, _, _begun = file.read_text().rpartition("\n") if file.exists() else ("", "", "")
            records = [json.loads(line) for line in whole.splitlines()]
            found[:] = [record for record in records if record["dynamodb"]["Keys"]["pk"] == {"S": pk}]
            return len(found) >= count

        until(enough)
        return found

    def dead_letters(self, *, count: int) -> list[Any]:
        sqs = self.client("sqs")
        found: list[Any] = []

        def enough() -> bool:
            answer = sqs.receive_message(QueueUrl=self.dead_letter_queue, MaxNumberOfMessages=10)
            for message in answer.get("Messages", []):
                found.append(json.loads(message["Body"]))
                sqs.delete_message(QueueUrl=self.dead_letter_queue, ReceiptHandle=message["ReceiptHandle"])
            return len(found) >= count

        until(enough)
        return found


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.05)


@pytest.fixture
def application(emulator: Emulator, tmp_path: Path) -> Iterator[Application]:
    deployed = deploy_application(emulator, tmp_path)
    yield deployed
    emulator.client("cloudformation").delete_stack(StackName=deployed.table)


def deploy_application(emulator: Emulator, tmp_path: Path) -> Application:
    """Deploy it by CloudFormation, without its mapping; the stack has the table's name."""
    name = f"{STACK}-{secrets.token_hex(4)}"
    assembly = tmp_path / "cdk.out"
    assembly.mkdir()
    file = f"{name}.template.json"
    artifact = {"type": "aws:cloudformation:stack", "properties": {"templateFile": file}}
    (assembly / "manifest.json").write_text(json.dumps({"artifacts": {name: artifact}}))
    (assembly / file).write_text(json.dumps(_template(name, seen=tmp_path / "seen.jsonl")))
    keep_templates(assembly, tmp_path / DEPLOYED_TEMPLATES)
    remaining = without_stream_mappings(read_stacks(assembly))[file]
    cloudformation = emulator.client("cloudformation")
    cloudformation.create_stack(
        StackName=name, TemplateBody=json.dumps(remaining), Capabilities=["CAPABILITY_IAM"]
    )
    cloudformation.get_waiter("stack_create_complete").wait(
        StackName=name, WaiterConfig={"Delay": 1, "MaxAttempts": WAIT_SECONDS}
    )
    resources = {
        resource["LogicalResourceId"]: resource["PhysicalResourceId"]
        for resource in cloudformation.describe_stack_resources(StackName=name)["StackResources"]
    }
    return Application(
        emulator=replace(emulator, state=tmp_path),
        table=name,
        function=resources["Consumer"],
        dead_letter_queue=resources["DeadLetters"],
    )
