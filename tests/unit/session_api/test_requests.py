"""Parsing and validation of requests, before any use case."""

import base64
from typing import Any

import pytest

from session_api.lists import requested_page
from session_api.requests import (
    MAX_BODY,
    Headers,
    Query,
    Request,
    check_ignored_body,
    parse_body,
    parse_headers,
    parse_idempotency_key,
    parse_min_version,
    parse_query,
)
from session_api.session_bodies import CreateSession
from session_store.domain.page import MessagePosition
from session_store.errors import InvalidRequestError, PayloadTooLargeError, PreconditionRequiredError
from tests.support.gateway import rest_event
from tests.support.samples import ALICE
from tests.support.world import World


def event(body: object, **changes: Any) -> dict[str, Any]:
    return rest_event("POST", "/sessions", body=body, **changes)


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def a_request(
    world: World, headers: dict[str, list[str]], query: dict[str, str] | None = None
) -> Request[None]:
    return Request(
        store=world.store,
        caller=ALICE,
        path={},
        headers=Headers(headers),
        query=Query(values=query or {}),
        min_version=0,
        body=None,
    )


TEXT = '{"a": "é", "b": [0.1]}'


def test_a_base64_encoded_body_is_the_same_body() -> None:
    plain = parse_body(event(TEXT), dict)
    assert parse_body(event(in_base64(TEXT), base64_encoded=True), dict) == plain


@pytest.mark.parametrize("body", ["!", "e30", "e30=é", " e30=", "{}"])
def test_broken_base64_is_refused(body: str) -> None:
    with pytest.raises(InvalidRequestError, match="base64"):
        parse_body(event(body, base64_encoded=True), dict)


@pytest.mark.parametrize("body", [None, "", " ", "\r\n\t"])
def test_an_empty_body_is_refused(body: str | None) -> None:
    for sent in (event(body), event(None if body is None else in_base64(body), base64_encoded=True)):
        with pytest.raises(InvalidRequestError, match="empty"):
            parse_body(sent, dict)


@pytest.mark.parametrize("body", ["[]", "[{}]", "null", "1", "0.1", '"a"', "true", "{", "NaN"])
def test_a_body_that_is_not_an_object_is_refused(body: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        parse_body(event(body), dict)
    assert refused.value.facts["path"] == "$"


@pytest.mark.parametrize("encoded", [False, True])
def test_a_body_of_1_mb_is_admitted_and_a_byte_more_is_not(*, encoded: bool) -> None:
    fits = '{"a":"' + "x" * (MAX_BODY - 8) + '"}'
    sent = [in_base64(text) if encoded else text for text in (fits, fits + " ")]
    assert len(parse_body(event(sent[0], base64_encoded=encoded), dict)["a"]) == MAX_BODY - 8
    with pytest.raises(PayloadTooLargeError) as refused:
        parse_body(event(sent[1], base64_encoded=encoded), dict)
    assert refused.value.facts == {"limit": 1_048_576, "size": 1_048_577}


def test_a_body_is_measured_in_bytes() -> None:
    with pytest.raises(PayloadTooLargeError):
        parse_body(event('{"a":"' + "é" * (MAX_BODY // 2) + '"}'), dict)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"idleTimeout": "3600"}, "$.idleTimeout"),
        ({"idleTimeout": 3600.5}, "$.idleTimeout"),
        ({"idleTimeout": True}, "$.idleTimeout"),
        ({"idleTimeout": -1}, "$.idleTimeout"),
        ({"idleTimeout": 9}, "$.idleTimeout"),
        ({"idleTimeout": 604_801}, "$.idleTimeout"),
        ({"idleTimeout": None}, "$.idleTimeout"),
        ({"idleTimeout": 10**40}, "$.idleTimeout"),
        ({"maxLifetime": 1_893_456_000_000}, "$.maxLifetime"),
        ({"maxLifetime": "2030-01-01T00:00:00Z"}, "$.maxLifetime"),
        ({"maxLifetime": 7_776_001}, "$.maxLifetime"),
        ({"state": []}, "$.state"),
        ({"credentialRefs": [1]}, "$.credentialRefs[0]"),
        ({"credentialRefs": ["a"] * 11}, "$.credentialRefs"),
        ({"idle_timeout": 3600}, "$"),
        ({"sessionId": "mine"}, "$"),
    ],
)
def test_a_body_of_another_shape_is_refused_with_its_path(body: object, path: str) -> None:
    text = str(body).replace("'", '"').replace("True", "true").replace("None", "null")
    with pytest.raises(InvalidRequestError) as refused:
        parse_body(event(text), CreateSession)
    assert refused.value.facts["path"].split("`")[0] == path  # type: ignore[attr-defined] # text


@pytest.mark.parametrize("body", [{"idleTimeout": 10}, {"idleTimeout": 604_800}, {"maxLifetime": 7_776_000}])
def test_the_bounds_of_a_range_are_inclusive(body: object) -> None:
    assert isinstance(parse_body(event(body), CreateSession), CreateSession)


@pytest.mark.parametrize("name", ["If-Match", "if-match", "IF-MATCH", "iF-mAtCh"])
def test_a_header_is_known_in_any_case(name: str) -> None:
    headers = parse_headers(rest_event("GET", "/", headers={name: '"1"'}))
    assert headers.single("If-Match") == '"1"'
    assert parse_headers({"headers": {name: '"1"'}}).single("if-match") == '"1"'


@pytest.mark.parametrize("sent", [{"If-Match": ['"1"', '"2"']}, {"If-Match": '"1"', "IF-MATCH": '"1"'}])
def test_a_single_header_sent_twice_is_refused(sent: Any) -> None:
    headers = parse_headers(rest_event("GET", "/", headers=sent))
    with pytest.raises(InvalidRequestError) as refused:
        headers.single("If-Match")
    assert refused.value.facts["path"] == "header If-Match"


def test_an_absent_header_is_none() -> None:
    assert parse_headers({"headers": None, "multiValueHeaders": None}).single("If-Match") is None


@pytest.mark.parametrize(
    ("value", "expected"), [('"7"', 7), ('"0"', 0), ("*", None), ('"999999999999999"', 10**15 - 1)]
)
def test_if_match_names_a_version(world: World, value: str, expected: int | None) -> None:
    assert a_request(world, {"if-match": [value]}).expected_version() == expected


@pytest.mark.parametrize(
    "value", ["7", '"a"', 'W/"7"', '"7","8"', '"-1"', '""', "", '"7" ', '"7"\n', '"1e3"', '"\u0667"']
)
def test_any_other_if_match_is_refused(world: World, value: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        a_request(world, {"if-match": [value]}).expected_version()
    assert refused.value.facts["path"] == "header If-Match"


def test_if_match_may_be_required(world: World) -> None:
    assert a_request(world, {}).expected_version() is None
    with pytest.raises(PreconditionRequiredError):
        a_request(world, {}).expected_version(required=True)


@pytest.mark.parametrize(("text", "expected"), [(None, 20), ("1", 1), ("100", 100)])
def test_a_limit_is_1_to_100(world: World, text: str | None, expected: int) -> None:
    request = a_request(world, {}, {} if text is None else {"limit": text})
    assert requested_page(request, MessagePosition, query={}).limit == expected


@pytest.mark.parametrize("text", ["0", "101", "-1", "", "1.0", "1e1", " 1", "1\n", "ten", "9" * 99, "\u0662"])
def test_any_other_limit_is_refused(world: World, text: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        requested_page(a_request(world, {}, {"limit": text}), MessagePosition, query={})
    assert refused.value.facts["path"] == "query limit"


def test_a_query_has_known_parameters_each_once() -> None:
    assert parse_query(rest_event("GET", "/"), []) == Query(values={})
    assert parse_query(rest_event("GET", "/", query={"a": "1"}), ["a", "b"]).text("a") == "1"
    for query in ({"a": ["1", "2"]}, {"c": "1"}, {"A": "1"}):
        with pytest.raises(InvalidRequestError):
            parse_query(rest_event("GET", "/", query=query), ["a", "b"])
    for known, allowed in (["limit", "cursor"], "limit, cursor"), ([], "none"):
        with pytest.raises(InvalidRequestError, match=f"^Unknown; allowed: {allowed} "):
            parse_query(rest_event("GET", "/", query={"c": "1"}), known)
    with pytest.raises(InvalidRequestError, match="one of x, y"):
        Query(values={"a": "z"}).choice("a", ["x", "y"])


@pytest.mark.parametrize(("sent", "expected"), [([], 0), (["0"], 0), (["7"], 7), (["9" * 15], 10**15 - 1)])
def test_a_minimum_version_is_a_whole_number(sent: list[str], expected: int) -> None:
    assert parse_min_version(Headers({"session-min-version": sent})) == expected


@pytest.mark.parametrize("sent", [["x"], [""], ["-1"], ["1.0"], ['"7"'], ["9" * 16], ["7\n"], ["7", "7"]])
def test_any_other_minimum_version_is_refused(sent: list[str]) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        parse_min_version(Headers({"session-min-version": sent}))
    assert refused.value.facts["path"] == "header Session-Min-Version"


@pytest.mark.parametrize("value", ["", "k"])
def test_an_idempotency_key_is_refused_where_none_is_accepted(value: str) -> None:
    assert parse_idempotency_key(Headers({"session-min-version": ["7"]}), accepted=False) is None
    with pytest.raises(InvalidRequestError) as refused:
        parse_idempotency_key(Headers({"idempotency-key": [value]}), accepted=False)
    assert refused.value.facts["path"] == "header Idempotency-Key"


@pytest.mark.parametrize("key", ["k", "a b", " k", "k" * 256, '~!"#%', '"quoted"'])
def test_a_key_of_printable_ascii_is_taken_as_it_is(key: str) -> None:
    assert parse_idempotency_key(Headers({"idempotency-key": [key]}), accepted=True) == key
    assert parse_idempotency_key(Headers({}), accepted=True) is None


@pytest.mark.parametrize(
    "sent", [[""], [" "], ["   "], ["k" * 257], ["a\tb"], ["k\n"], ["ü"], ["k", "k"], ["\x7f"], ["\x1f"]]
)
def test_a_malformed_key_is_refused(sent: list[str]) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        parse_idempotency_key(Headers({"idempotency-key": sent}), accepted=True)
    assert refused.value.facts["path"] == "header Idempotency-Key"


def test_an_ignored_body_has_a_limit_too() -> None:
    check_ignored_body({"body": None})
    check_ignored_body({"body": "x" * 1024 * 1024})
    with pytest.raises(PayloadTooLargeError):
        check_ignored_body({"body": "x" * (1024 * 1024 + 1)})
