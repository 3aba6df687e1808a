"""Checkpoints through the gateway: taken once, by namespace, and gone on from."""

import hashlib
import secrets
from typing import Any
from urllib.parse import quote

import pytest

from local.signed_http import Answer
from session_store.schema import CHECKPOINT_SK_PREFIX, Attribute, PayloadEnv, payload_prefix
from tests.support.calls import (
    Acting,
    assert_problem,
    create,
    create_in,
    exact,
    items,
    message_id,
    move,
    pages,
)
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable

KEY = "Idempotency-Key"
NO_RETENTIONS = [899, 7_776_001, "900", 900.5, True, -1, 1893456000000]
NAMESPACES = ["", "a", "a#b", "a%23b", "a%", "#", "agent:plan|2", "x" * 128]


def path_of(session_id: str, rest: str = "", namespace: str = "") -> str:
    query = f"?namespace={quote(namespace, safe='')}" if namespace else ""
    return f"/sessions/{session_id}/checkpoints{rest}{query}"


def add(api: Acting, session_id: str, data: Any = "data", **body: object) -> dict[str, Any]:
    answer = api.call("POST", path_of(session_id), {"data": data, **body})
    assert answer.status == 201, answer.body
    checkpoint: dict[str, Any] = answer.json
    return checkpoint


def replayed(answer: Answer) -> bool:
    return answer.headers.get("idempotent-replayed") == "true"


def test_a_run_goes_on_from_the_newest(api: Acting) -> None:
    session_id = create(api)["sessionId"]
    assert_problem(api.call("GET", path_of(session_id, "/latest")), 404, "not-found")
    first = add(api, session_id, {"step": 1})
    assert first["parentId"] is None
    assert first["expiresAt"] == last_end(api, session_id)
    second = add(api, session_id, {"step": 2}, parentId=first["checkpointId"])
    assert second["parentId"] == first["checkpointId"]
    assert api.call("GET", path_of(session_id, "/latest")).json == second
    assert api.call("GET", path_of(session_id, f"/{first['checkpointId']}")).json == first
    assert items(api, path_of(session_id)) == [first, second]
    assert_problem(api.call("GET", path_of(session_id, f"/{message_id()}")), 404, "not-found")


def last_end(api: Acting, session_id: str) -> str:
    end: str = api.call("GET", f"/sessions/{session_id}").json["maxExpiresAt"]
    return end


def test_namespaces_never_show_one_another(api: Acting, raw: RawTable) -> None:
    session_id = create(api)["sessionId"]
    shared = message_id()
    there = {name: add(api, session_id, name, namespace=name, checkpointId=shared) for name in NAMESPACES}
    for name, checkpoint in there.items():
        assert items(api, path_of(session_id, "", name)) == [checkpoint]
        assert api.call("GET", path_of(session_id, "/latest", name)).json == checkpoint
        assert api.call("GET", path_of(session_id, f"/{shared}", name)).json == checkpoint
    assert api.call("GET", f"{path_of(session_id)}?namespace=").json["items"] == [there[""]]
    assert items(api, path_of(session_id, "", "a#")) == []
    keys = [item[Attribute.SK]["S"] for item in raw.partition(session_id)]
    spelled = [name.replace("%", "%25").replace("#", "%23") for name in NAMESPACES]
    assert {key for key in keys if key.startswith(CHECKPOINT_SK_PREFIX)} == {
        f"{CHECKPOINT_SK_PREFIX}{name}#{shared}" for name in spelled
    }


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_a_namespace_is_listed_by_cursor_in_order(api: Acting, order: str) -> None:
    session_id = create(api)["sessionId"]
    added = [add(api, session_id, number, namespace="n#") for number in range(7)]
    add(api, session_id, "other")
    read = list(pages(api, f"{path_of(session_id, '', 'n#')}&order={order}&limit=3"))
    found = [item for page in read for item in page.json["items"]]
    assert found == (added if order == "asc" else added[::-1])
    cursor = read[0].json["nextCursor"]
    turned = "desc" if order == "asc" else "asc"
    for query in (f"order={order}", f"namespace=n&order={order}", f"namespace=n%23&order={turned}"):
        answer = api.call("GET", f"{path_of(session_id)}?{query}&cursor={cursor}")
        assert_problem(answer, 400, "invalid-request", {"path": "query cursor"})


def test_the_same_again_is_a_success_and_another_content_a_conflict(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active")
    body = {"data": {"a": 1, "b": [0.5]}, "checkpointId": message_id(), "namespace": "n"}
    first = api.call("POST", path_of(session_id), body)
    before = raw.partition(session_id)
    again = api.call("POST", path_of(session_id), {**body, "data": {"b": [0.50], "a": 1.0}})
    assert (first.status, again.status, again.json) == (201, 200, first.json)
    conflicts = {"data": 2}, {"parentId": body["checkpointId"]}, {"retainSeconds": 900}
    for change in conflicts:
        answer = api.call("POST", path_of(session_id), {**body, **change})
        assert_problem(answer, 409, "content-conflict", {"checkpointId": body["checkpointId"]})
    assert raw.partition(session_id) == before
    for step in ("closing", "closed"):
        move(api, session_id, step)
        replay = api.call("POST", path_of(session_id), body)
        assert (replay.status, replay.json) == (200, first.json)
        assert_problem(api.call("POST", path_of(session_id), {"data": 1}), 409, "session-closed")


def test_under_a_key_it_is_taken_once(api: Acting, raw: RawTable) -> None:
    session_id = create_in(api, "active")
    parent = add(api, session_id)["checkpointId"]
    key = {KEY: "resume"}
    body = {"data": {"tenth": 0.1, "big": 9007199254740993}, "parentId": parent}
    first = api.call("POST", path_of(session_id), body, key)
    before = raw.partition(session_id)
    reordered = {"parentId": parent, "data": {"big": 9007199254740993, "tenth": 0.1}, "namespace": ""}
    again = api.call("POST", path_of(session_id), reordered, key)
    assert (first.status, again.status, exact(again.body)) == (201, 201, exact(first.body))
    assert (replayed(first), replayed(again)) == (False, True)
    assert_problem(api.call("POST", path_of(session_id), {"data": 1}, key), 422, "idempotency-mismatch")
    for step in ("closing", "closed"):
        move(api, session_id, step)
    late = api.call("POST", path_of(session_id), body, key)
    assert (late.status, replayed(late), late.json) == (201, True, first.json)
    assert [item for item in raw.partition(session_id) if "checkpoint#" in item[Attribute.SK]["S"]] == [
        item for item in before if "checkpoint#" in item[Attribute.SK]["S"]
    ]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "$"),
        ({"data": 1, "name": "n"}, "$"),
        ({"data": 1, "namespace": " "}, "$.namespace"),
        ({"data": 1, "namespace": ".."}, "$.namespace"),
        ({"data": 1, "namespace": "x" * 129}, "$.namespace"),
        ({"data": 1, "namespace": 7}, "$.namespace"),
        ({"data": 1, "checkpointId": "latest"}, "$.checkpointId"),
        ({"data": 1, "checkpointId": ""}, "$.checkpointId"),
        ({"data": 1, "checkpointId": message_id(seconds_off=-360)}, "$.checkpointId"),
        ({"data": 1, "checkpointId": message_id(seconds_off=86_400)}, "$.checkpointId"),
        ({"data": 1, "parentId": "p"}, "$.parentId"),
        ({"data": 1, "parentId": message_id()}, "$.parentId"),
        *(({"data": 1, "retainSeconds": given}, "$.retainSeconds") for given in NO_RETENTIONS),
    ],
)
def test_what_is_malformed_is_refused_by_its_path(
    api: Acting, raw: RawTable, body: dict[str, Any], path: str
) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    answer = api.call("POST", path_of(session_id), body)
    assert_problem(answer, 400, "invalid-request", {"path": path})
    assert raw.partition(session_id) == before


@pytest.mark.parametrize("identifier", ["Latest", "x", "%20", "latest%20"])
def test_what_is_no_checkpoint_id_is_refused(api: Acting, identifier: str) -> None:
    session_id = create(api)["sessionId"]
    add(api, session_id)
    answer = api.call("GET", path_of(session_id, f"/{identifier}"))
    assert_problem(answer, 400, "invalid-request", {"path": "checkpointId"})


@pytest.mark.parametrize("rest", ["", "/latest", f"/{message_id()}"])
def test_what_is_no_namespace_is_refused(api: Acting, rest: str) -> None:
    session_id = create(api)["sessionId"]
    answer = api.call("GET", path_of(session_id, rest, "a b"))
    assert_problem(answer, 400, "invalid-request", {"path": "query namespace"})


def test_its_own_retention_ends_it_and_is_never_past_the_session(api: Acting, raw: RawTable) -> None:
    session_id = create(api, {"maxLifetime": 3600})["sessionId"]
    metadata = raw.metadata(session_id)
    assert metadata is not None
    last = int(metadata[Attribute.MAX_EXPIRES_AT]["N"])
    for retain, name in ((900, "short"), (7200, "long")):
        add(api, session_id, name, retainSeconds=retain)
    ends = {
        item[Attribute.DATA]["S"]: int(item[Attribute.TTL]["N"])
        for item in raw.partition(session_id)
        if Attribute.DATA in item
    }
    assert 890 <= ends['"short"'] - (last - 3600) <= 930
    assert ends['"long"'] == last


def test_data_of_900_kb_lie_in_the_bucket_and_are_read_back_equal(
    deployed: LiveStack, api: Acting, raw: RawTable
) -> None:
    session_id = create(api)["sessionId"]
    data = b'{"n":[0.1,9007199254740993],"text":"%s"}' % secrets.token_hex(450_000).encode()
    body = b'{"namespace":"n#","data":%s}' % data
    first = api.call("POST", path_of(session_id), body, {KEY: "large"})
    again = api.call("POST", path_of(session_id), body, {KEY: "large"})
    assert (first.status, replayed(again), exact(again.body)) == (201, True, exact(first.body))
    one = f"/{first.json['checkpointId']}"
    for rest in (one, "/latest"):
        found = exact(api.call("GET", path_of(session_id, rest, "n#")).body)
        assert found["data"] == exact(data)
    (listed,) = exact(api.call("GET", path_of(session_id, "", "n#")).body)["items"]
    assert listed["data"] == exact(data)
    s3 = deployed.emulator.client("s3")
    bucket = deployed.variables("session_api")[PayloadEnv.PAYLOAD_BUCKET]
    (entry,) = s3.list_objects_v2(Bucket=bucket, Prefix=payload_prefix(session_id))["Contents"]
    text = s3.get_object(Bucket=bucket, Key=entry["Key"])["Body"].read()
    told = {"bytes": {"N": str(len(text))}, "sha256": {"S": hashlib.sha256(text).hexdigest()}}
    assert [item[Attribute.DATA] for item in raw.partition(session_id) if Attribute.DATA in item] == [
        {"M": told}
    ]
