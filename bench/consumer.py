"""The stream consumer in this process, alternating with plain writes of the same items."""

import contextlib
import importlib
import io
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from aws_lambda_powertools.utilities.typing import LambdaContext

from local.credentials import REGION
from local.deployment import Deployed
from local.emulator import ACCOUNT, Emulator
from session_store.schema import PAYLOADS, Attribute, Env, StreamEnv

QUEUE: Final = "bench-cleanup"
BUCKET: Final = "bench-quarantine"
PLAIN: Final = "bench-plain"


@dataclass(slots=True)
class Measured:
    """Seconds of each timed batch, and units of the counted ones."""

    handler: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    units: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        return sum(self.plain) / sum(self.handler)


def become_consumer(emulator: Emulator, deployed: Deployed) -> None:
    """Set this process's environment to the consumer's, with root credentials; create a table for puts."""
    emulator.client("dynamodb").create_table(
        TableName=PLAIN,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": Attribute.PK, "KeyType": "HASH"},
            {"AttributeName": Attribute.SK, "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in (Attribute.PK, Attribute.SK)
        ],
    )
    emulator.client("s3").create_bucket(Bucket=BUCKET)
    variables = {
        **emulator.environment,
        Env.TABLE_NAME: deployed.table_name,
        Env.AUDIT_TABLE_NAME: deployed.audit_table_name,
        Env.REGIONS: REGION,
        Env.STATUS_SHARDS: "4",
        Env.AUDIT_RETENTION_DAYS: "90",
        StreamEnv.AUDIT_DIGESTED: ",".join(PAYLOADS),
        StreamEnv.CLEANUP_QUEUE_URL: emulator.client("sqs").create_queue(QueueName=QUEUE)["QueueUrl"],
        StreamEnv.CLEANUP_DELAY_SECONDS: "0",
        StreamEnv.QUARANTINE_BUCKET: BUCKET,
        "POWERTOOLS_SERVICE_NAME": "audit-consumer",
        "POWERTOOLS_METRICS_NAMESPACE": "SessionStore",
    }
    os.environ.update({str(name): value for name, value in variables.items()})


class _Context(LambdaContext):
    def __init__(self) -> None:
        self._function_name = "audit-consumer"
        self._memory_limit_in_mb = 1024
        self._invoked_function_arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:audit-consumer"
        self._aws_request_id = "bench"


def _silence() -> contextlib.redirect_stdout[io.StringIO]:
    """Discard standard output: metrics are lines there, for CloudWatch."""
    return contextlib.redirect_stdout(io.StringIO())


def consume(emulator: Emulator, batches: Sequence[Mapping[str, Any]]) -> Measured:
    module = importlib.import_module("audit_consumer.handler")
    client, plain = module.consumer.storage.client.dynamodb, emulator.client("dynamodb")
    measured = Measured()
    for number, event in enumerate(batches):
        counted = number == len(batches) - 1
        with _noting(client, units=measured.units if counted else None) as items, _silence():
            began = time.perf_counter()
            answer = module.handler(event, _Context())
            handled = time.perf_counter() - began
        assert answer == {"batchItemFailures": []}
        assert len(items) == len(event["Records"])
        began = time.perf_counter()
        for item in items:
            plain.put_item(TableName=PLAIN, Item=item)
        put = time.perf_counter() - began
        if number and not counted:
            measured.handler.append(handled)
            measured.plain.append(put)
    return measured


@contextlib.contextmanager
def _noting(client: Any, *, units: list[float] | None) -> Iterator[list[Any]]:  # noqa: ANN401 - boto3 makes it at run time
    """Collect the items that the client puts, and in ``units`` what each took."""
    items: list[Any] = []

    def note(params: dict[str, Any], **_: Any) -> None:  # noqa: ANN401 - botocore's own
        items.append(params["Item"])
        if units is not None:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def count(parsed: Mapping[str, Any], **_: Any) -> None:  # noqa: ANN401 - likewise
        if units is not None:
            units.append(parsed["ConsumedCapacity"]["CapacityUnits"])

    hooks = (("provide-client-params.dynamodb.PutItem", note), ("after-call.dynamodb.PutItem", count))
    for name, hook in hooks:
        client.meta.events.register(name, hook)
    yield items
    for name, hook in hooks:
        client.meta.events.unregister(name, hook)
