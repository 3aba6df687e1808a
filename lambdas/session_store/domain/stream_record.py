"""A record of the table's stream, decoded: what it says happened, to which item."""

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
    """``at`` in milliseconds since the epoch, of which the stream keeps the second alone.

    ``old`` is empty for an INSERT, ``new`` for a REMOVE. ``stream`` names the stream
    that ``sequence_number`` belongs to. ``by_service`` says that DynamoDB itself
    removed the item, as it does when its TTL is over.
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
