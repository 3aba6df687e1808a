"""Records of the table's stream, decoded."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from session_store.domain.json_values import JsonValue

EXPIRY_PRINCIPAL: Final = "dynamodb.amazonaws.com"


class StreamEvent(StrEnum):
    INSERT = "INSERT"
    MODIFY = "MODIFY"
    REMOVE = "REMOVE"


class StreamRecord(Struct, frozen=True, kw_only=True):
    """A change of one item. ``at`` in milliseconds since the epoch, to the second.

    ``old`` is empty for an INSERT, ``new`` for a REMOVE. ``stream`` is the stream that ``sequence_number``
    belongs to. ``by_service``: DynamoDB itself removed the item, after its TTL.
    """

    event: StreamEvent
    stream: str
    sequence_number: str
    at: int
    pk: str
    sk: str
    old: Mapping[str, JsonValue]
    new: Mapping[str, JsonValue]
    by_service: bool
