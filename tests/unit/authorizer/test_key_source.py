"""The key set is fetched from the configured URI, within bounds of time and size."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from authorizer import key_source
from authorizer.key_source import MAX_BYTES, MAX_KEYS, KeySource
from local.loopback import HOST, free_port
from session_store.errors import UnavailableError
from tests.support.answering import AnsweringServer, answering
from tests.support.issuer import jwk, rsa_key

KEY = jwk(rsa_key())


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine serves late; tests of the time-outs shorten them again."""
    monkeypatch.setattr(key_source, "READ_TIMEOUT_SECONDS", 60)
    monkeypatch.setattr(key_source, "TOTAL_TIMEOUT_SECONDS", 60)


@pytest.fixture
def server() -> Iterator[AnsweringServer]:
    with serving() as state:
        yield state


@contextmanager
def serving() -> Iterator[AnsweringServer]:
    key_set = AnsweringServer(body=json.dumps({"keys": [KEY]}).encode())
    with answering(key_set, path="/keys?v=1") as state:
        yield state


def asked(server: AnsweringServer) -> list[str]:
    return [each.path for each in server.received]


def fetched(server: AnsweringServer) -> Any:
    return KeySource(uri=server.url).fetch()


def test_keys_come_by_their_ids_from_the_uri_with_its_query(server: AnsweringServer) -> None:
    assert fetched(server) == {"key-1": KEY}
    assert asked(server) == ["/keys?v=1"]


@pytest.mark.parametrize(
    "other",
    [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "shared"},
        {**KEY, "kid": "of encryption", "use": "enc"},
        {name: value for name, value in KEY.items() if name != "kid"},
        {**KEY, "kid": 7},
        "no key",
        None,
    ],
    ids=str,
)
def test_keys_that_do_not_sign_are_left_out(server: AnsweringServer, other: object) -> None:
    server.body = json.dumps({"keys": [other, KEY]}).encode()
    assert list(fetched(server)) == ["key-1"]


@pytest.mark.parametrize("status", [201, 204, 301, 302, 404, 500, 503])
def test_a_response_other_than_200_is_refused(server: AnsweringServer, status: int) -> None:
    server.status = status
    with pytest.raises(UnavailableError):
        fetched(server)


def test_a_redirect_is_not_followed(server: AnsweringServer) -> None:
    with serving() as elsewhere:
        server.status, server.headers = 307, {"location": elsewhere.url}
        with pytest.raises(UnavailableError):
            fetched(server)
        assert asked(elsewhere) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"keys": {}}',
        b'{"keys": null}',
        b"\xff",
        b"[" * 50_000,
        json.dumps({"keys": [KEY] * (MAX_KEYS + 1)}).encode(),
        json.dumps({"keys": [KEY]}).encode() + b" " * MAX_BYTES,
    ],
    ids=lambda body: repr(body[:24]),
)
def test_a_malformed_or_oversized_key_set_is_refused(server: AnsweringServer, body: bytes) -> None:
    server.body = body
    with pytest.raises(UnavailableError):
        fetched(server)


def test_a_refused_connection_is_unavailable() -> None:
    with pytest.raises(UnavailableError, match="ConnectionRefusedError"):
        KeySource(uri=f"http://{HOST}:{free_port()}/").fetch()


def test_a_silent_server_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_source, "READ_TIMEOUT_SECONDS", 0.1)
    with socket.create_server((HOST, 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(UnavailableError, match="TimeoutError"):
            KeySource(uri=f"http://{HOST}:{port}/").fetch()


def test_a_fetch_that_trickles_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = threading.Event()
    monkeypatch.setattr(key_source, "TOTAL_TIMEOUT_SECONDS", 0.1)
    monkeypatch.setattr(KeySource, "_get", lambda _: waiting.wait(10))
    with pytest.raises(UnavailableError, match="TimeoutError"):
        KeySource(uri="https://issuer.example.com/").fetch()
    waiting.set()


def test_a_server_that_does_not_speak_https_is_refused(server: AnsweringServer) -> None:
    with pytest.raises(UnavailableError, match="SSL"):
        KeySource(uri=server.url.replace("http:", "https:")).fetch()
    assert asked(server) == []
