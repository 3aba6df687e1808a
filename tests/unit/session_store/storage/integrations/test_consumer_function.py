"""The consumer's response says which records failed."""

import io
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from session_store.errors import ThrottledError
from session_store.storage.integrations.consumer_function import ConsumerFunction
from tests.support.dead_letters import event

RECORDS = [event(number) for number in (98, 99, 100)]


class FakeLambda:
    def __init__(self, payload: object = None, *, error: Exception | None = None, **answer: Any) -> None:
        self.answer = {"Payload": io.BytesIO(json.dumps(payload).encode()), "StatusCode": 200, **answer}
        self.error = error
        self.calls: list[dict[str, Any]] = []

    def invoke(self, **arguments: Any) -> dict[str, Any]:
        self.calls.append(arguments)
        if self.error is not None:
            raise self.error
        return self.answer


def replayed(client: FakeLambda) -> list[int]:
    return list(ConsumerFunction(client=client, name="consumer").replay(RECORDS))


def failures(*numbers: str) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": number} for number in numbers]}


def test_the_records_go_as_lambda_sends_them_and_the_answer_is_waited_for() -> None:
    client = FakeLambda(failures())
    assert replayed(client) == []
    (call,) = client.calls
    assert call.pop("Payload") == json.dumps({"Records": RECORDS}, separators=(",", ":")).encode()
    assert call == {"FunctionName": "consumer"}


@pytest.mark.parametrize(
    ("payload", "failed"),
    [
        (None, []),
        ({}, []),
        (failures("99"), [1]),
        (failures("100", "98", "100"), [0, 2]),
        (failures("7"), [0, 1, 2]),
        (failures("99", "7"), [0, 1, 2]),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, [0, 1, 2]),
        ("nonsense", [0, 1, 2]),
    ],
)
def test_the_answer_tells_which_records_failed(payload: object, failed: list[int]) -> None:
    assert replayed(FakeLambda(payload)) == failed


def test_a_function_that_crashes_took_nothing() -> None:
    assert replayed(FakeLambda({"errorMessage": "no"}, FunctionError="Unhandled")) == [0, 1, 2]


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "TooManyRequestsException"}}, "Invoke"),
        ReadTimeoutError(endpoint_url="http://127.0.0.1"),
    ],
)
def test_an_unreachable_function_is_a_busy_store(error: Exception) -> None:
    with pytest.raises(ThrottledError, match="The consumer of the stream"):
        replayed(FakeLambda(error=error))


def test_a_missing_function_is_no_transient_error() -> None:
    with pytest.raises(ClientError):
        replayed(FakeLambda(error=ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "Invoke")))
