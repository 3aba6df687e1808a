"""Fields of stream records, in the form of Lambda's events, that delivery needs."""

from collections.abc import Mapping
from typing import Final

from session_store.storage.dynamodb.stream_events import EventRecord as Record
from session_store.storage.dynamodb.stream_events import event_record, sequence_number

__all__ = ["TTL_IDENTITY", "Record", "created_at", "event_record", "sequence_number"]

TTL_IDENTITY: Final[Mapping[str, str]] = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
"""The identity that removes expired items ("DynamoDB Streams and Time to Live")."""


def created_at(record: Record) -> float:
    """In seconds since the epoch, as precise as the stream's."""
    return float(record["dynamodb"]["ApproximateCreationDateTime"])
