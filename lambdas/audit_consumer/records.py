"""Decoding of the stream records that Lambda delivers."""

from collections.abc import Mapping
from typing import Any, Final

from session_store.domain.stream_record import EXPIRY_PRINCIPAL, StreamEvent, StreamRecord
from session_store.domain.times import MILLIS
from session_store.errors import UnreadableRecordError
from session_store.schema import Attribute
from session_store.storage.dynamodb.codec import from_item

IMAGES: Final = {
    StreamEvent.INSERT: ("NewImage",),
    StreamEvent.MODIFY: ("OldImage", "NewImage"),
    StreamEvent.REMOVE: ("OldImage",),
}
"""The images that a record of each kind must have (NEW_AND_OLD_IMAGES)."""


def decode_record(raw: Mapping[str, Any]) -> StreamRecord:
    """The record as a value of the domain.

    Raises:
        UnreadableRecordError: a part is missing, or not as this store writes it.
    """
    try:
        return _decode(raw)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise UnreadableRecordError(
            f"not a record of this table's stream ({type(error).__name__})"
        ) from error


def _decode(raw: Mapping[str, Any]) -> StreamRecord:
    event = StreamEvent(raw["eventName"])
    change = raw["dynamodb"]
    for image in IMAGES[event]:
        if not change.get(image):
            raise UnreadableRecordError(f"{event} without {image}")
    keys = from_item(change["Keys"])
    return StreamRecord(
        event=event,
        stream=raw["eventSourceARN"],
        sequence_number=change["SequenceNumber"],
        at=int(change["ApproximateCreationDateTime"]) * MILLIS,
        pk=keys[Attribute.PK],
        sk=keys[Attribute.SK],
        old=from_item(change["OldImage"]) if "OldImage" in IMAGES[event] else {},
        new=from_item(change["NewImage"]) if "NewImage" in IMAGES[event] else {},
        by_service=_by_service(raw.get("userIdentity")),
    )


def _by_service(identity: Mapping[str, Any] | None) -> bool:
    return identity is not None and (identity.get("type"), identity.get("principalId")) == (
        "Service",
        EXPIRY_PRINCIPAL,
    )
