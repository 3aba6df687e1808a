"""What a function's answer says about its batch.

Rules: "Configuring partial batch response with DynamoDB and Lambda" (AWS Lambda Developer Guide).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

WHOLE_BATCH: Final = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How an invocation ended."""

    request_id: str
    status_code: int = 200
    executed_version: str = "$LATEST"
    function_error: str | None = None
    """``Unhandled`` or ``Handled`` where the function raised, crashed or ran out of time."""

    payload: bytes = b"null"


def first_failure(answer: Answer, sequence_numbers: Sequence[str], *, reports_failures: bool) -> int | None:
    """The place in the batch from which on it has failed; None for success, ``WHOLE_BATCH`` for all of it.

    Of several failures the lowest counts. AWS documents as success an empty or null response or list, as
    failure of the whole batch an identifier that is empty, null or under another key. It is silent about an
    identifier of no record in the batch and about a response of another form: they fail the whole batch here,
    since no record of it can be told to have succeeded.
    """
    if answer.function_error is not None:
        return WHOLE_BATCH
    if not reports_failures:
        return None
    failures = _failures(answer.payload)
    if not failures:
        return failures if failures is None else WHOLE_BATCH
    places = {number: place for place, number in enumerate(sequence_numbers)}
    return min(places.get(identifier, WHOLE_BATCH) for identifier in failures)


def _failures(payload: bytes) -> list[str] | None:
    """The identifiers; None where the response reports no failure, none at all where it is malformed."""
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
