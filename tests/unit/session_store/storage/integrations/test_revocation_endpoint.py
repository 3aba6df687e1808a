"""RFC 7009 against a server on loopback."""

import base64
import json
import logging
import traceback
from collections.abc import Iterator

import pytest
import urllib3

from session_store.domain.credential import Credential
from session_store.errors import UnavailableError
from session_store.storage.integrations.revocation_endpoint import RevocationEndpoint, pool
from session_store.storage.memory.surroundings import MemorySecrets
from tests.support.revocation import AuthorizationServer, authorization_server

TOKEN = "marker-5e8a/+=&%"


@pytest.fixture
def server() -> Iterator[AuthorizationServer]:
    with authorization_server() as state:
        yield state


def endpoint(server: AuthorizationServer, *, secret: str | None = None) -> RevocationEndpoint:
    secrets = MemorySecrets(texts={} if secret is None else {"client": secret})
    return RevocationEndpoint(
        url=server.url, secrets=secrets, client_secret=None if secret is None else "client"
    )


def test_the_token_goes_as_a_form(server: AuthorizationServer) -> None:
    assert endpoint(server).revoke(Credential(token=TOKEN, token_type_hint="access_token")) is None
    (request,) = server.received
    assert request.path == "/revoke"
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    assert request.form == {"token": [TOKEN], "token_type_hint": ["access_token"]}
    assert "authorization" not in request.headers


def test_without_a_hint_none_is_sent(server: AuthorizationServer) -> None:
    endpoint(server).revoke(Credential(token=TOKEN))
    assert server.received[0].form == {"token": [TOKEN]}


def test_the_client_authenticates_by_basic_with_both_parts_encoded(server: AuthorizationServer) -> None:
    secret = json.dumps({"clientId": "the store", "clientSecret": "a:b%c+d"})
    assert endpoint(server, secret=secret).revoke(Credential(token=TOKEN)) is None
    kind, _, encoded = server.received[0].headers["authorization"].partition(" ")
    assert (kind, base64.b64decode(encoded).decode()) == ("Basic", "the+store:a%3Ab%25c%2Bd")


@pytest.mark.parametrize(
    "secret",
    ["", "{", "[]", "null", '{"clientId": "marker-3d1f"}', '{"clientId": 1, "clientSecret": "marker-3d1f"}'],
)
def test_a_malformed_client_secret_is_unavailable(server: AuthorizationServer, secret: str) -> None:
    with pytest.raises(UnavailableError, match="revocation client") as raised:
        endpoint(server, secret=secret).revoke(Credential(token=TOKEN))
    assert server.received == []
    assert "marker-3d1f" not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize(
    ("status", "body", "failure"),
    [
        (400, b'{"error": "unsupported_token_type"}', "HTTP 400 unsupported_token_type"),
        (401, b'{"error": "invalid_client"}', "HTTP 401 invalid_client"),
        (400, f'{{"error": "{TOKEN}", "error_description": "{TOKEN}"}}'.encode(), "HTTP 400"),
        (400, b'{"error": ["invalid_client"]}', "HTTP 400"),
        (400, b"<html>" + TOKEN.encode(), "HTTP 400"),
        (400, b"\xff\xfe", "HTTP 400"),
        (400, b"[]", "HTTP 400"),
        (403, b"", "HTTP 403"),
        (404, b"", "HTTP 404"),
        (204, b"", "HTTP 204"),
    ],
)
def test_a_refusal_is_reported_without_the_text_of_the_server(
    server: AuthorizationServer, status: int, body: bytes, failure: str
) -> None:
    server.status, server.body = status, body
    assert endpoint(server).revoke(Credential(token=TOKEN)) == failure


@pytest.mark.parametrize("status", [500, 502, 503, 504, 429, 408])
def test_a_server_that_asks_to_be_tried_again_is(server: AuthorizationServer, status: int) -> None:
    server.status = status
    with pytest.raises(UnavailableError, match=str(status)):
        endpoint(server).revoke(Credential(token=TOKEN))
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(server: AuthorizationServer, status: int) -> None:
    with authorization_server() as elsewhere:
        server.status, server.headers = status, {"location": elsewhere.url}
        assert endpoint(server).revoke(Credential(token=TOKEN)) == f"HTTP {status}"
        assert elsewhere.received == []


def test_a_large_answer_is_read_to_a_limit(server: AuthorizationServer) -> None:
    server.status, server.body = 400, b" " * 5_000_000
    assert endpoint(server).revoke(Credential(token=TOKEN)) == "HTTP 400"


def test_a_server_that_does_not_answer_in_time_is_tried_again(server: AuthorizationServer) -> None:
    server.ready.clear()
    impatient = urllib3.PoolManager(timeout=urllib3.Timeout(connect=1, read=0.05), retries=False)
    slow = RevocationEndpoint(url=server.url, secrets=MemorySecrets(), http=impatient)
    with pytest.raises(UnavailableError, match="ReadTimeoutError") as raised:
        slow.revoke(Credential(token=TOKEN))
    assert "marker" not in "".join(traceback.format_exception(raised.value))
    assert server.asked.wait(60)
    assert len(server.received) == 1


def test_an_unreachable_server_is_tried_again() -> None:
    with authorization_server() as gone:
        pass
    with pytest.raises(UnavailableError):
        endpoint(gone).revoke(Credential(token=TOKEN))


def test_a_call_has_a_limit_and_no_second_try() -> None:
    options = pool().connection_pool_kw
    assert (options["timeout"].connect_timeout, options["timeout"].read_timeout) == (2.0, 5.0)
    assert (options["retries"].total, options["retries"].redirect) == (False, 0)


def test_a_token_is_in_no_log(server: AuthorizationServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        endpoint(server).revoke(Credential(token=TOKEN))
    assert "marker" not in caplog.text
