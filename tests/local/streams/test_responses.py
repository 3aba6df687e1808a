"""A function's response is read as Lambda's documentation says."""

import json
from typing import Any

import pytest

from local.streams.responses import WHOLE_BATCH, InvocationResult, first_failure

BATCH = ["100", "200", "1000"]


def failure(payload: bytes, **answer: Any) -> int | None:
    return first_failure(
        InvocationResult(request_id="request", payload=payload, **answer), BATCH, reports_failures=True
    )


@pytest.mark.parametrize(
    "response",
    [None, {}, "", {"batchItemFailures": []}, {"batchItemFailures": None}, {"statusCode": 200}],
    ids=str,
)
def test_a_success_is(response: Any) -> None:
    assert failure(json.dumps(response).encode()) is None


def test_no_payload_at_all_is_a_success() -> None:
    assert failure(b"") is None


@pytest.mark.parametrize(
    "response",
    [
        {"batchItemFailures": [{"itemIdentifier": ""}]},
        {"batchItemFailures": [{"itemIdentifier": None}]},
        {"batchItemFailures": [{"itemIdentifier": 200}]},
        {"batchItemFailures": [{"bad": "200"}]},
        {"batchItemFailures": [{"itemIdentifier": "999"}]},
        {"batchItemFailures": [{"itemIdentifier": "1000"}, {"itemIdentifier": "999"}]},
        {"batchItemFailures": ["200"]},
        {"batchItemFailures": "200"},
        {"batchItemFailures": {"itemIdentifier": "200"}},
        ["200"],
        "done",
        False,
        0,
    ],
    ids=str,
)
def test_a_failure_of_the_whole_batch_is(response: Any) -> None:
    assert failure(json.dumps(response).encode()) == WHOLE_BATCH


def test_a_payload_that_is_not_json_fails_the_whole_batch() -> None:
    assert failure(b"<html>") == WHOLE_BATCH


@pytest.mark.parametrize(
    ("failed", "place"), [(["200"], 1), (["1000", "200"], 1), (["1000"], 2), (["100"], 0)]
)
def test_the_lowest_failure_in_the_batch_counts(failed: list[str], place: int) -> None:
    failures = [{"itemIdentifier": identifier} for identifier in failed]
    assert failure(json.dumps({"batchItemFailures": failures}).encode()) == place


def test_a_function_error_fails_the_whole_batch() -> None:
    assert failure(b"null", function_error="Unhandled") == WHOLE_BATCH
