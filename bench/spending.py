"""What work takes of DynamoDB, SQS, EventBridge, S3 and the logs, according to the clients' responses."""

import math
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.hooks import BaseEventHooks

from bench.prices import Meter, Usage
from infra.logged_function import MEMORY_MIB

READ_UNIT: Final = 4096
"""Bytes that one read request unit reads, strongly consistently."""

WRITE_UNIT: Final = 1024
REFUSED: Final = "ConditionalCheckFailedException"

OWN_SECONDS: Final = 0.005
"""Assumed for a function's own work per invocation."""

ROUND_TRIP_SECONDS: Final = 0.005
"""Assumed for DynamoDB, SQS, EventBridge and S3 alike."""

RECORDS_A_BATCH: Final = 10
"""Assumed for the stream consumer, whose mapping waits a second for up to a hundred."""

PLATFORM_LOG_BYTES: Final = 800
"""Assumed for Lambda's own log lines per invocation, in JSON."""

LINE_BYTES: Final = 26
"""What CloudWatch adds to each ingested line."""

GB: Final = 1_000_000_000


@dataclass(slots=True)
class Spent:
    """What was spent. ``writes``: units by table or index."""

    writes: Counter[str] = field(default_factory=Counter)
    reads: float = 0.0
    round_trips: int = 0
    messages: int = 0
    events: int = 0
    object_writes: int = 0
    object_reads: int = 0
    log_bytes: int = 0
    invocations: int = 0
    records: int = 0
    """Records of the stream, for the consumer's work."""

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            writes=self.writes + other.writes,
            reads=self.reads + other.reads,
            round_trips=self.round_trips + other.round_trips,
            messages=self.messages + other.messages,
            events=self.events + other.events,
            object_writes=self.object_writes + other.object_writes,
            object_reads=self.object_reads + other.object_reads,
            log_bytes=self.log_bytes + other.log_bytes,
            invocations=self.invocations + other.invocations,
            records=self.records + other.records,
        )

    def usage(self) -> Usage:
        """Usage in billed units; Lambda's seconds are estimated from the round trips."""
        invocations, log_bytes = float(self.invocations), float(self.log_bytes)
        if self.records:
            # Many sessions change within a batch's window, and share its cost.
            invocations = self.records / RECORDS_A_BATCH
            log_bytes *= invocations / self.invocations
        seconds = invocations * OWN_SECONDS + self.round_trips * ROUND_TRIP_SECONDS
        logged = log_bytes + invocations * PLATFORM_LOG_BYTES
        return Usage(
            {
                Meter.WRITE: float(self.writes.total()),
                Meter.READ: self.reads,
                Meter.INVOCATION: invocations,
                Meter.GB_SECOND: seconds * MEMORY_MIB / 1024,
                Meter.QUEUE: self.messages,
                Meter.EVENT: self.events,
                Meter.OBJECT_WRITE: self.object_writes,
                Meter.OBJECT_READ: self.object_reads,
                Meter.LOG_GB: logged / GB,
            }
        )


class Spending:
    """Watches the clients that are created with ``events``, botocore's emitter, from now on.

    Read units are computed from the bytes read, since the emulator's figures are wrong. ``plain`` is a
    client that is not watched: it repeats each Query and reads whole items.
    """

    def __init__(self, plain: Any, events: BaseEventHooks) -> None:  # noqa: ANN401 - boto3 makes it at run time
        self.now = Spent()
        self._plain = plain
        self._own = threading.local()
        self._lock = threading.Lock()
        events.register("provide-client-params.dynamodb", self._ask)
        events.register("provide-client-params.events.PutEvents", self._put_events)
        events.register("after-call.dynamodb", self._note)
        events.register("after-call.sqs", self._sent)
        events.register("after-call.events", self._sent)
        events.register("after-call.s3", self._object)

    def taken(self) -> Spent:
        """What was spent since the last call."""
        spent, self.now = self.now, Spent()
        return spent

    def _ask(self, params: dict[str, Any], **_: Any) -> None:  # noqa: ANN401 - botocore's own
        params["ReturnConsumedCapacity"] = "INDEXES"
        self._own.asked = {name: value for name, value in params.items() if name != "ProjectionExpression"}

    def _note(self, model: Any, parsed: Mapping[str, Any], **_: Any) -> None:  # noqa: ANN401 - botocore's own
        consumed = parsed.get("ConsumedCapacity") or []
        consumed = [consumed] if isinstance(consumed, dict) else consumed
        # The shards of an index are queried in parallel, one thread each.
        with self._lock:
            self.now.round_trips += 1
            if model.name == "Query":
                self.now.reads += self._read_by_query(self._own.asked)
            elif model.name == "GetItem":
                consistent = bool(self._own.asked.get("ConsistentRead"))
                self.now.reads += read_units([parsed.get("Item", {})], consistent=consistent)
            elif model.name == "BatchGetItem":
                self.now.reads += self._read_by_batch(parsed["Responses"])
            elif parsed.get("Error", {}).get("Code") == REFUSED:
                self._refused(parsed.get("Item", {}))
            else:
                for each in consumed:
                    self._written(each)

    def _written(self, consumed: Mapping[str, Any]) -> None:
        indexes: Mapping[str, Any] = consumed.get("GlobalSecondaryIndexes") or {}
        for name, index in indexes.items():
            self.now.writes[name] += index["CapacityUnits"]
        of_indexes = sum(index["CapacityUnits"] for index in indexes.values())
        self.now.writes[consumed["TableName"]] += consumed["CapacityUnits"] - of_indexes

    def _refused(self, there: Mapping[str, Any]) -> None:
        """Responses do not report the units of a refused write: as many as the larger of the two items."""
        asked = self._own.asked
        larger = max(item_bytes(there), item_bytes(asked.get("Item", {})))
        self.now.writes[asked["TableName"]] += write_units(larger)

    def _read_by_query(self, query: Mapping[str, Any]) -> float:
        whole = {name: value for name, value in query.items() if name != "FilterExpression"}
        used = whole["KeyConditionExpression"]
        for names in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
            whole[names] = {name: value for name, value in query[names].items() if name in used}
        return read_units(self._plain.query(**whole)["Items"], consistent=bool(query.get("ConsistentRead")))

    def _read_by_batch(self, found: Mapping[str, Sequence[Mapping[str, Any]]]) -> float:
        """Each item of a batch is billed by itself, and so is each that does not exist."""
        units = 0.0
        for name, asked in self._own.asked["RequestItems"].items():
            consistent, items = bool(asked.get("ConsistentRead")), found.get(name, [])
            missing: list[Mapping[str, Any]] = [{}] * (len(asked["Keys"]) - len(items))
            units += sum(read_units([item], consistent=consistent) for item in (*items, *missing))
        return units

    def _put_events(self, params: Mapping[str, Any], **_: Any) -> None:  # noqa: ANN401 - botocore's own
        self.now.events += len(params["Entries"])

    def _object(self, model: Any, **_: Any) -> None:  # noqa: ANN401 - botocore's own
        """Deletions are free."""
        self.now.round_trips += 1
        self.now.object_writes += model.name in {"PutObject", "ListObjectsV2"}
        self.now.object_reads += model.name == "GetObject"

    def _sent(self, model: Any, **_: Any) -> None:  # noqa: ANN401 - botocore's own
        self.now.round_trips += 1
        self.now.messages += model.service_model.service_name == "sqs"


def read_units(items: Sequence[Mapping[str, Any]], *, consistent: bool) -> float:
    """Read units of a call that reads these items (DynamoDB JSON): by their total size, at least one unit."""
    whole = max(1, math.ceil(sum(map(item_bytes, items)) / READ_UNIT))
    return float(whole) if consistent else whole / 2


def write_units(length: int) -> int:
    """Write units of an item of this size, outside a transaction."""
    return max(1, math.ceil(length / WRITE_UNIT))


def item_bytes(item: Mapping[str, Any]) -> int:
    """Size by the rules of *DynamoDB item sizes and formats* (Amazon DynamoDB Developer Guide)."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: Mapping[str, Any]) -> int:
    ((kind, held),) = value.items()
    match kind:
        case "S":
            return len(str(held).encode())
        case "N":
            number = str(held)
            digits = number.lstrip("-").replace(".", "").strip("0")
            return math.ceil(len(digits) / 2) + 1 + number.startswith("-")
        case "L":
            return 3 + sum(1 + _value_bytes(each) for each in held)
        case "M":
            return 3 + len(held) + item_bytes(held)
        case _:
            # BOOL and NULL; the store has no other types.
            return 1
