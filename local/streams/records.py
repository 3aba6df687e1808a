"""Stream records in the form in which Lambda hands them to a function, as the delivery of them needs them."""

from collections.abc import Mapping
from typing import Final

from session_store.storage.dynamodb.stream_events import EventRecord as Record
from session_store.storage.dynamodb.stream_events import event_record, sequence_number

__all__ = ["TTL_IDENTITY", "Record", "created_at", "event_record", "sequence_number"]

TTL_IDENTITY: Final[Mapping[str, str]] = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}
"""Who removed an expired item ("DynamoDB Streams and Time to Live")."""


def created_at(record: Record) -> float:
    """In seconds since the epoch, as exact as the stream tells."""
    return float(record["dynamodb"]["ApproximateCreationDateTime"])
