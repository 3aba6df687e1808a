"""Stream records in the form of Lambda's event."""

from collections.abc import Mapping
from typing import Final

from session_store.storage.dynamodb.stream_events import EventRecord as Record
from session_store.storage.dynamodb.stream_events import event_record, sequence_number

__all__ = ["TTL_IDENTITY", "Record", "created_at", "event_record", "sequence_number"]

TTL_IDENTITY: Final[Mapping[str, str]] = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
"""The identity in the record of an expired item ("DynamoDB Streams and Time to Live")."""


def created_at(record: Record) -> float:
    """Return the record's approximate creation time, in seconds since the epoch."""
    return float(record["dynamodb"]["ApproximateCreationDateTime"])
