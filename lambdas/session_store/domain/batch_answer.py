"""What a function that reports batch item failures says about its batch.

Rules: "Configuring partial batch response with DynamoDB and Lambda" (AWS Lambda Developer Guide).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any


def failed_positions(payload: bytes, sequence_numbers: Sequence[str]) -> tuple[int, ...]:
    """The places in the batch of the records that failed, in order; none where all of it succeeded.

    AWS documents as success an empty or null response or list, as failure of the whole batch an identifier
    that is empty, null or under another key. It is silent about an identifier of no record in the batch and
    about a response of another form: they fail the whole batch here, since no record of it can be told to
    have succeeded.
    """
    whole_batch = tuple(range(len(sequence_numbers)))
    identifiers = _identifiers(payload)
    if identifiers is None:
        return ()
    places = {number: place for place, number in enumerate(sequence_numbers)}
    if not identifiers or not places.keys() >= set(identifiers):
        return whole_batch
    return tuple(sorted({places[identifier] for identifier in identifiers}))


def _identifiers(payload: bytes) -> list[str] | None:
    """None where the response reports no failure, none at all where it is malformed."""
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
