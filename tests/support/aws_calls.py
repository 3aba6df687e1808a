"""What code asks of AWS: every call that it makes, and the permission that each call takes.

Source: *Service Authorization Reference*, the pages of each service.
"""

import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from session_store import storage
from session_store.storage import codec
from session_store.storage.integrations.aws_clients import aws_session


@dataclass(frozen=True, kw_only=True)
class AwsCall:
    service: str
    operation: str
    parameters: Mapping[str, Any]
    longest: float
    """Seconds that it may take, with all that its client sends again."""


@dataclass(kw_only=True)
class AwsCalls:
    made: list[AwsCall] = field(default_factory=list)
    """In their order."""

    events: Any = None
    """Of the session that makes the clients, for hooks of one's own."""

    taken: dict[str, set[str]] = field(default_factory=dict)
    """By index: the attributes of its items that the code looked at."""


class IndexedItem(dict[str, Any]):
    """An item that an index answered with."""

    index: str = ""


class _Watched(dict[str, Any]):
    """Values by attribute; notes which are looked at."""

    def __init__(self, values: Mapping[str, Any], taken: set[str]) -> None:
        super().__init__(values)
        self._taken = taken

    def __getitem__(self, name: str) -> Any:
        self._taken.add(str(name))
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._taken.add(str(name))
        return super().get(name, default)


@contextmanager
def recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsCalls]:
    """Of every client that is made in the block, for as long as it lives."""
    calls = AwsCalls()

    def note(params: Mapping[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        config = context["client_config"]
        made = AwsCall(
            service=model.service_model.service_name,
            operation=model.name,
            parameters=params,
            longest=(config.connect_timeout + config.read_timeout) * config.retries["total_max_attempts"],
        )
        calls.made.append(made)
        context["asked"] = params

    def note_answer(parsed: dict[str, Any], context: Mapping[str, Any], **_: Any) -> None:
        index = context.get("asked", {}).get("IndexName")
        if index is not None:
            parsed["Items"] = [IndexedItem(item) for item in parsed.get("Items", ())]
            for item in parsed["Items"]:
                item.index = index

    def watched(item: Mapping[str, Any]) -> dict[str, Any]:
        values = codec.from_item(dict(item))
        if isinstance(item, IndexedItem):
            return _Watched(values, calls.taken.setdefault(item.index, set()))
        return values

    # Every module of the storage that reads items has it by this name.
    for module in [module for name, module in sys.modules.items() if name.startswith(storage.__name__)]:
        if getattr(module, "from_item", None) is codec.from_item and module is not codec:
            monkeypatch.setattr(module, "from_item", watched)
    aws_session.cache_clear()
    events = aws_session().get_component("event_emitter")
    calls.events = events
    events.register("provide-client-params", note)
    events.register("after-call", note_answer)
    yield calls
    aws_session.cache_clear()


@dataclass(frozen=True, order=True)
class Permission:
    action: str
    resource: str
    """As the code names it: a name, a URL or an ARN; of an index, ``<table>/index/<index>``."""


def permissions(call: AwsCall) -> Iterator[Permission]:
    """What the caller must be allowed. Raises ``KeyError`` for an operation that is not known here."""
    if call.service in _BY_NAME and call.operation in _BY_NAME[call.service]:
        action, parameter = _BY_NAME[call.service][call.operation]
        yield Permission(action, call.parameters[parameter])
    else:
        yield from _OTHERS[call.service, call.operation](call.parameters)


def _same(service: str, parameter: str, *operations: str) -> dict[str, tuple[str, str]]:
    return {operation: (f"{service}:{operation}", parameter) for operation in operations}


_BY_NAME: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "dynamodb": _same(
        "dynamodb", "TableName", "DeleteItem", "DescribeTable", "GetItem", "PutItem", "UpdateItem"
    ),
    "lambda": {"Invoke": ("lambda:InvokeFunction", "FunctionName")},
    "s3": {"ListObjectsV2": ("s3:ListBucket", "Bucket")},
    "secretsmanager": _same("secretsmanager", "SecretId", "GetSecretValue"),
    "sqs": {
        **_same(
            "sqs",
            "QueueUrl",
            "ChangeMessageVisibility",
            "DeleteMessage",
            "GetQueueAttributes",
            "ReceiveMessage",
            "SendMessage",
        ),
        "SendMessageBatch": ("sqs:SendMessage", "QueueUrl"),
    },
}
"""Operations on one resource: the action, and the parameter that names the resource."""

_OF_ITEM: Final = {
    "ConditionCheck": "dynamodb:ConditionCheckItem",
    "Delete": "dynamodb:DeleteItem",
    "Put": "dynamodb:PutItem",
    "Update": "dynamodb:UpdateItem",
}
"""A transaction is authorised by the actions of its items."""


def _query(parameters: Mapping[str, Any]) -> Iterator[Permission]:
    table = parameters["TableName"]
    index = parameters.get("IndexName")
    yield Permission("dynamodb:Query", table if index is None else f"{table}/index/{index}")


def _transaction(parameters: Mapping[str, Any]) -> Iterator[Permission]:
    for item in parameters["TransactItems"]:
        ((kind, request),) = item.items()
        yield Permission(_OF_ITEM[kind], request["TableName"])


def _batch(action: str) -> Callable[[Mapping[str, Any]], Iterator[Permission]]:
    return lambda parameters: (Permission(action, table) for table in parameters["RequestItems"])


def _object(action: str) -> Callable[[Mapping[str, Any]], Iterator[Permission]]:
    return lambda parameters: iter([Permission(action, f"{parameters['Bucket']}/{parameters['Key']}")])


def _delete_objects(parameters: Mapping[str, Any]) -> Iterator[Permission]:
    for each in parameters["Delete"]["Objects"]:
        yield Permission("s3:DeleteObject", f"{parameters['Bucket']}/{each['Key']}")


def _put_events(parameters: Mapping[str, Any]) -> Iterator[Permission]:
    yield from (Permission("events:PutEvents", entry["EventBusName"]) for entry in parameters["Entries"])


_OTHERS: Final[Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Iterator[Permission]]]] = {
    ("dynamodb", "BatchGetItem"): _batch("dynamodb:BatchGetItem"),
    ("dynamodb", "BatchWriteItem"): _batch("dynamodb:BatchWriteItem"),
    ("dynamodb", "Query"): _query,
    ("dynamodb", "TransactWriteItems"): _transaction,
    ("dynamodbstreams", "GetShardIterator"): lambda parameters: iter(
        [Permission("dynamodb:GetShardIterator", parameters["StreamArn"])]
    ),
    # An iterator names no stream: this one's is the one that the iterator was asked of.
    ("dynamodbstreams", "GetRecords"): lambda _: iter([Permission("dynamodb:GetRecords", "stream")]),
    ("events", "PutEvents"): _put_events,
    ("s3", "DeleteObjects"): _delete_objects,
    ("s3", "GetObject"): _object("s3:GetObject"),
    ("s3", "PutObject"): _object("s3:PutObject"),
}


def used(calls: AwsCalls) -> set[Permission]:
    streams = {call.parameters["StreamArn"] for call in calls.made if "StreamArn" in call.parameters}
    found = set(itertools.chain.from_iterable(map(permissions, calls.made)))
    return {
        Permission(one.action, stream)
        for one in found
        for stream in (streams if one.resource == "stream" else {one.resource})
    }
