"""Partial batch responses: which records a function reports as failed.

Rules: "Configuring partial batch response with DynamoDB and Lambda" (AWS Lambda Developer Guide).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def failed_positions(payload: bytes, sequence_numbers: Sequence[str]) -> tuple[int, ...]:
    """Positions in the batch of the records that failed, in order; empty if all succeeded.

    AWS documents an empty or null response or list as success, and an identifier that is empty, null or
    under another key as a failure of the whole batch. It does not document an identifier that matches no
    record, nor a response of another form. Both fail the whole batch here, because no record is known to
    have succeeded.
    """
    whole_batch = tuple(range(len(sequence_numbers)))
    identifiers = _identifiers(payload)
    if identifiers is None:
        return ()
    positions = {number: position for position, number in enumerate(sequence_numbers)}
    if not identifiers or not positions.keys() >= set(identifiers):
        return whole_batch
    return tuple(sorted({positions[identifier] for identifier in identifiers}))


def _identifiers(payload: bytes) -> list[str] | None:
    """The identifiers that the response reports: None for no failure, an empty list if it is malformed."""
    try:
        response: Any = json.loads(payload or b"null")
    except ValueError:
        return []
    if response in (None, "", {}):
        return None
    if not isinstance(response, Mapping):
        return []
    failures = response.get("batchItemFailures")
    if failures is None or failures == []:
        return None
    if not isinstance(failures, list):
        return []
    identifiers = [entry.get("itemIdentifier") for entry in failures if isinstance(entry, Mapping)]
    named = [identifier for identifier in identifiers if isinstance(identifier, str)]
    return named if len(named) == len(failures) else []
