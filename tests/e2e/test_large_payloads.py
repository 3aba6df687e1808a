"""Payloads above 300 KB through the deployed API: kept in S3, read back equal or not at all."""

import hashlib
import json
from typing import Any

import pytest

from session_store.domain.json_values import encode
from session_store.schema import Attribute, PayloadEnv, payload_prefix
from tests.support.calls import Acting, append, assert_problem, create, exact, message_id, pages
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable

NUMBERS = "[0.1,9007199254740993,1E-7,12345678901234567890.123]"
MARKER = "marker-4c1f9e"
MIB = 1024 * 1024


@pytest.fixture
def objects(deployed: LiveStack) -> Any:
    s3 = deployed.emulator.client("s3")
    bucket = deployed.variables("session_api")[PayloadEnv.PAYLOAD_BUCKET]

    def of(session_id: str) -> dict[str, bytes]:
        listed = s3.list_objects_v2(Bucket=bucket, Prefix=payload_prefix(session_id)).get("Contents", [])
        return {
            entry["Key"]: s3.get_object(Bucket=bucket, Key=entry["Key"])["Body"].read() for entry in listed
        }

    return of


def large(size: int) -> bytes:
    """JSON text with numbers that no double holds."""
    return f'{{"n":{NUMBERS},"text":"{MARKER}{"x" * (size - 80)}"}}'.encode()


def test_a_message_of_900_kb_is_read_back_equal_and_listed(api: Acting, raw: RawTable, objects: Any) -> None:
    session_id = create(api)["sessionId"]
    content = large(900_000)
    identifier = message_id()
    body = b'{"messages":[{"messageId":"%s","content":%s}]}' % (identifier.encode(), content)
    path = f"/sessions/{session_id}/context"
    assert api.call("POST", path, body).status == 201
    assert api.call("POST", path, body).status == 200
    append(api, session_id, "small")
    listed = [item for page in pages(api, path) for item in exact(page.body)["items"]]
    assert [item["content"] for item in listed] == [exact(content), "small"]
    ((key, text),) = objects(session_id).items()
    assert exact(text) == exact(content)
    item = next(item for item in raw.partition(session_id) if identifier in item[Attribute.SK]["S"])
    sha256 = hashlib.sha256(text).hexdigest()
    assert item[Attribute.CONTENT] == {"M": {"bytes": {"N": str(len(text))}, "sha256": {"S": sha256}}}
    assert key.endswith(f"/{sha256}")


def test_a_call_with_400_kb_in_and_400_kb_out_is_read_back_equal(api: Acting, objects: Any) -> None:
    session_id = create(api)["sessionId"]
    given, made = large(400_000), b"[" + large(400_000) + b"]"
    body = b'{"toolName":"search","input":%s,"output":%s,"durationMs":1}' % (given, made)
    path = f"/sessions/{session_id}/tool-calls/c1"
    assert api.call("PUT", path, body).status == 201
    assert api.call("PUT", path, body).status == 200
    for found in (
        exact(api.call("GET", path).body),
        exact(api.call("GET", f"/sessions/{session_id}/history").body)["items"][0],
    ):
        assert (found["input"], found["output"], found["error"]) == (exact(given), exact(made), None)
    assert len(objects(session_id)) == 2


def test_an_object_that_is_another_is_an_error_that_says_so(
    api: Acting, deployed: LiveStack, objects: Any
) -> None:
    session_id = create(api)["sessionId"]
    append(api, session_id, "x" * 400_000)
    ((key, text),) = objects(session_id).items()
    bucket = deployed.variables("session_api")[PayloadEnv.PAYLOAD_BUCKET]
    deployed.emulator.client("s3").put_object(Bucket=bucket, Key=key, Body=encode(MARKER))
    facts = {"size": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    answer = api.call("GET", f"/sessions/{session_id}/context")
    assert_problem(answer, 500, "payload-missing", facts)
    assert MARKER.encode() not in answer.body


def test_more_than_a_mebibyte_of_payload_is_refused(api: Acting, raw: RawTable, objects: Any) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    many_digits = [10**125] * 9_000
    body = {"messages": [{"content": many_digits}]}
    text = json.dumps(body).replace(str(10**125), "1e125").encode()
    answer = api.call("POST", f"/sessions/{session_id}/context", text)
    assert_problem(answer, 413, "payload-too-large", {"limit": MIB, "path": "$.messages[0].content"})
    assert (raw.partition(session_id), objects(session_id)) == (before, {})
