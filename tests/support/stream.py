"""Records of the table's stream, as Lambda delivers them."""

import itertools
from collections.abc import Mapping
from typing import Any, Final

from session_store.domain.session import Session
from session_store.storage.dynamodb.session_items import session_item
from tests.support.samples import NOW_SECONDS

STREAM: Final = "arn:aws:dynamodb:us-east-1:111122223333:table/sessions/stream/2027-01-15T08:00:00.000"
AT: Final = NOW_SECONDS * 1000
"""When a record says it was made, in milliseconds: a stream keeps whole seconds."""

SERVICE: Final = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}

_sequence = itertools.count(100000000000000000001)


def a_record(
    *,
    old: Mapping[str, Any] | None = None,
    new: Mapping[str, Any] | None = None,
    at: int = NOW_SECONDS,
    identity: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What the stream tells of a change from ``old`` to ``new`` (DynamoDB JSON) at second ``at``."""
    image = new or old or {}
    kind = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
    change: dict[str, Any] = {
        "ApproximateCreationDateTime": at,
        "Keys": {name: image[name] for name in ("pk", "sk") if name in image},
        "SequenceNumber": str(next(_sequence)),
        "SizeBytes": 100,
        "StreamViewType": "NEW_AND_OLD_IMAGES",
    }
    if old is not None:
        change["OldImage"] = old
    if new is not None:
        change["NewImage"] = new
    record: dict[str, Any] = {
        "eventID": change["SequenceNumber"],
        "eventName": kind,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": change,
        "eventSourceARN": STREAM,
    }
    if identity is not None:
        record["userIdentity"] = identity
    return record


def image_of(session: Session) -> dict[str, Any]:
    return session_item(session, shards=4)
