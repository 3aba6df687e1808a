"""Records of a DynamoDB stream in the form of a Lambda event.

Sources: "Using AWS Lambda with Amazon DynamoDB" (the event), "Record" (DynamoDB Streams API reference).
"""

import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Any

EventRecord = Mapping[str, Any]
"""JSON: eventID, eventName, eventVersion, eventSource, awsRegion, eventSourceARN, dynamodb, userIdentity?"""


def sequence_number(record: EventRecord) -> str:
    number: str = record["dynamodb"]["SequenceNumber"]
    return number


def event_record(record: Mapping[str, Any], *, stream_arn: str) -> dict[str, Any]:
    """The event record of a ``record`` that GetRecords returned, as boto3 parses it."""
    change = dict(record["dynamodb"])
    change["ApproximateCreationDateTime"] = _seconds(change["ApproximateCreationDateTime"])
    for image in ("Keys", "NewImage", "OldImage"):
        if image in change:
            change[image] = {name: _json(value) for name, value in change[image].items()}
    event = {
        "eventID": record["eventID"],
        "eventName": record["eventName"],
        "eventVersion": record["eventVersion"],
        "eventSource": record["eventSource"],
        "awsRegion": record["awsRegion"],
        "dynamodb": change,
        "eventSourceARN": stream_arn,
    }
    identity = record.get("userIdentity")
    if identity:
        # The streams API capitalises these two names, Lambda does not.
        event["userIdentity"] = {"type": identity["Type"], "principalId": identity["PrincipalId"]}
    return event


def _seconds(moment: datetime) -> float:
    seconds = moment.timestamp()
    return int(seconds) if seconds.is_integer() else seconds


def _json(value: Mapping[str, Any]) -> dict[str, Any]:
    """An attribute value with base64 instead of bytes."""
    ((kind, content),) = value.items()
    return {kind: _content(kind, content)}


def _content(kind: str, content: Any) -> Any:  # noqa: ANN401 - DynamoDB's types nest
    match kind:
        case "B":
            return base64.b64encode(content).decode()
        case "BS":
            return [base64.b64encode(member).decode() for member in content]
        case "L":
            return [_json(member) for member in content]
        case "M":
            return {name: _json(member) for name, member in content.items()}
        case _:
            return content
