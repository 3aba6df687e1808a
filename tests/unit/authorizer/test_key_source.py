"""The key set comes from the configured URI, in time and in bounds, or not at all."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from authorizer import key_source
from authorizer.key_source import MAX_BYTES, MAX_KEYS, KeySource
from session_store.errors import UnavailableError
from tests.support.issuer import jwk, rsa_key

KEY = jwk(rsa_key())


@dataclass
class Server:
    uri: str = ""
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as state:
        yield state


@contextmanager
def serving() -> Iterator[Server]:
    state = Server(body=json.dumps({"keys": [KEY]}).encode())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            self.send_response(state.status)
            for name, value in {**state.headers, "content-length": str(len(state.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(state.body)

        def log_message(self, *_: Any) -> None:
            """Nothing: a test reads what was asked."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """A caller that hangs up is no error here."""

    listening = Quiet(("127.0.0.1", 0), Handler)
    state.uri = f"http://127.0.0.1:{listening.server_port}/keys?v=1"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def fetched(server: Server) -> Any:
    return KeySource(uri=server.uri).fetch()


def test_keys_come_by_their_ids_from_the_uri_with_its_query(server: Server) -> None:
    assert fetched(server) == {"key-1": KEY}
    assert server.asked == ["/keys?v=1"]


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
def test_what_is_no_key_for_signatures_is_left_out(server: Server, other: object) -> None:
    server.body = json.dumps({"keys": [other, KEY]}).encode()
    assert list(fetched(server)) == ["key-1"]


@pytest.mark.parametrize("status", [201, 204, 301, 302, 404, 500, 503])
def test_an_answer_that_is_not_200_is_none(server: Server, status: int) -> None:
    server.status = status
    with pytest.raises(UnavailableError):
        fetched(server)


def test_a_redirect_is_not_followed(server: Server) -> None:
    with serving() as elsewhere:
        server.status, server.headers = 307, {"location": elsewhere.uri}
        with pytest.raises(UnavailableError):
            fetched(server)
        assert elsewhere.asked == []


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
def test_what_is_no_key_set_or_too_long_is_none(server: Server, body: bytes) -> None:
    server.body = body
    with pytest.raises(UnavailableError):
        fetched(server)


def test_nobody_there_is_unavailable() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(UnavailableError, match="ConnectionRefusedError"):
        KeySource(uri=f"http://127.0.0.1:{port}/").fetch()


def test_a_server_that_says_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_source, "SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(UnavailableError, match="TimeoutError"):
            KeySource(uri=f"http://127.0.0.1:{port}/").fetch()


def test_https_is_spoken_and_what_does_not_speak_it_is_none(server: Server) -> None:
    with pytest.raises(UnavailableError, match="SSL"):
        KeySource(uri=server.uri.replace("http:", "https:")).fetch()
    assert server.asked == []
