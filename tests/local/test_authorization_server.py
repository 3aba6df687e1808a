"""The development authorization server revokes by RFC 7009 and stores no token."""

import base64
import hashlib
import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from local.authorization_server import FORM, MAX_BYTES, authorization_server
from local.loopback import HOST, PortError, free_port
from session_store.domain.credential import Credential
from session_store.storage.integrations.revocation_endpoint import RevocationEndpoint
from session_store.storage.memory.surroundings import MemorySecrets

TOKEN = "marker-5e8a/+=&% \u00e9"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "revocations.jsonl"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def url(file: Path, said: list[str]) -> Iterator[str]:
    with authorization_server(port=0, file=file, say=said.append) as url:
        yield url


def call(
    url: str, method: str, path: str, body: bytes = b"", **headers: str
) -> tuple[int, Mapping[str, str], bytes]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body=body, headers={"Content-Type": FORM, **sent})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def endpoint(url: str, *, secret: str | None = None) -> RevocationEndpoint:
    secrets = MemorySecrets(texts={} if secret is None else {"client": secret})
    return RevocationEndpoint(url=f"{url}/revoke", secrets=secrets, client_secret=secret and "client")


def test_a_revocation_is_recorded_by_the_tokens_hash(url: str, file: Path, said: list[str]) -> None:
    assert endpoint(url).revoke(Credential(token=TOKEN, token_type_hint="refresh_token")) is None
    (line,) = lines(file)
    assert line.pop("at").endswith("Z")
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    assert line == {"tokenSha256": digest, "tokenTypeHint": "refresh_token", "client": None}
    assert said == [f"revoked a token: refresh_token, SHA-256 {digest[:12]}..."]
    assert "marker" not in file.read_text()


def test_a_client_is_recorded_by_its_id_only(url: str, file: Path) -> None:
    secret = json.dumps({"clientId": "store & co", "clientSecret": "hush:+"})
    assert endpoint(url, secret=secret).revoke(Credential(token=TOKEN)) is None
    (line,) = lines(file)
    assert (line["client"], line["tokenTypeHint"]) == ("store & co", None)
    assert "hush" not in file.read_text()


def test_revoking_a_token_twice_gets_the_same_response(url: str, file: Path) -> None:
    for _ in range(2):
        assert call(url, "POST", "/revoke", b"token=unknown")[0::2] == (200, b"")
    assert len(lines(file)) == 2


@pytest.mark.parametrize(
    "body", [b"", b"token=", b"token_type_hint=access_token", b"token=a&token=b", b"%%%", b'{"token":"a"}']
)
def test_a_request_without_one_token_is_refused(url: str, file: Path, body: bytes) -> None:
    status, headers, answer = call(url, "POST", "/revoke", body)
    assert (status, headers["Content-Type"]) == (400, "application/json")
    assert json.loads(answer)["error"] == "invalid_request"
    assert lines(file) == []


def test_a_body_that_is_no_form_or_too_long_is_refused(url: str, file: Path) -> None:
    assert call(url, "POST", "/revoke", b"token=a", Content_Type="application/json")[0] == 400
    assert call(url, "POST", "/revoke", b"token=a", Content_Length="x")[0] == 400
    assert call(url, "POST", "/revoke", Content_Length=str(MAX_BYTES + 1))[0] == 400
    assert lines(file) == []


@pytest.mark.parametrize(
    "authorization",
    ["Bearer x", "Basic", "Basic %%%", "Basic " + base64.b64encode(b"no colon").decode()],
)
def test_a_client_that_authenticates_otherwise_is_refused(url: str, file: Path, authorization: str) -> None:
    status, headers, answer = call(url, "POST", "/revoke", b"token=a", Authorization=authorization)
    assert (status, headers["WWW-Authenticate"]) == (401, "Basic")
    assert json.loads(answer)["error"] == "invalid_client"
    assert lines(file) == []


def test_only_post_revokes_and_nothing_else_is_there(url: str) -> None:
    status, headers, _ = call(url, "GET", "/revoke")
    assert (status, headers["Allow"]) == (405, "POST")
    assert call(url, "HEAD", "/revoke")[0] == 405
    assert call(url, "POST", "/token", b"token=a")[0] == 404
    assert call(url, "GET", "/")[0] == 404


def test_it_listens_on_loopback_alone_and_ends_with_its_block(file: Path, said: list[str]) -> None:
    # Nobody else may be found at the port once it is free again.
    with authorization_server(port=free_port(), file=file, say=said.append) as url:
        address = urlsplit(url)
        assert address.hostname == HOST
        # An address of this machine that only a server on all of them would answer at.
        with pytest.raises(OSError, match=r"refused|timed out|assign|reach"):
            socket.create_connection(("127.0.0.2", address.port or 0), timeout=2)
    with pytest.raises(ConnectionRefusedError):
        call(url, "POST", "/revoke", b"token=a")


def test_a_taken_port_is_refused_by_number(file: Path, said: list[str]) -> None:
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        with (
            pytest.raises(PortError, match=rf"port {port} is in use.*AUTH_PORT=<port>"),
            authorization_server(port=port, file=file, say=said.append),
        ):
            pass
