"""An authorization server for development, on loopback: revokes the credentials of ended sessions.

With an issuer's key it also publishes the issuer's keys and metadata; it hands out no tokens.

It stores no tokens: by RFC 7009, 2.2 a request with an unknown token is answered like a successful
revocation. Any client may call, with HTTP Basic or without.
"""

import base64
import binascii
import contextlib
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, unquote_plus, urlsplit

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from local.issuer import JWKS, OAUTH, OPENID, Issuer
from local.loopback import HOST, PortError
from session_store.domain.times import iso

REVOKE: Final = "/revoke"
FORM: Final = "application/x-www-form-urlencoded"
MAX_BYTES: Final = 65_536
IDLE_SECONDS: Final = 10
"""A connection that sends nothing for so long is closed."""

POLL_SECONDS: Final = 0.05
SHOWN_DIGITS: Final = 12

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An HTTP response; ``body`` is sent as JSON."""

    status: HTTPStatus
    body: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class _Refusal(Exception):  # noqa: N818 - a response, not a failure
    def __init__(self, code: str, why: str, *, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        """``code`` is an error code of RFC 6749, 5.2."""
        headers = {"WWW-Authenticate": "Basic"} if status is HTTPStatus.UNAUTHORIZED else {}
        body = {"error": code, "error_description": why}
        self.answer = Reply(status=status, body=body, headers=headers)


Route = Callable[[Message, bytes], Reply]
Routes = Mapping[str, Mapping[str, Route]]
"""By path, then by method."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RevocationEndpoint:
    """``POST /revoke`` (RFC 7009). Appends a JSON line per revocation to ``file``, never a token."""

    file: Path
    say: Say
    lock: threading.Lock = field(default_factory=threading.Lock)

    def revoke(self, headers: Message, body: bytes) -> Reply:
        if headers.get_content_type() != FORM:
            raise _Refusal("invalid_request", f"the body must be {FORM}")
        client = _client(headers.get("Authorization"))
        form = parse_qs(body.decode("latin-1"), strict_parsing=False, keep_blank_values=True)
        token, hint = _once(form, "token"), _once(form, "token_type_hint")
        if not token:
            raise _Refusal("invalid_request", "the parameter token is missing")
        self._keep(hashlib.sha256(token.encode()).hexdigest(), hint=hint, client=client)
        return Reply(status=HTTPStatus.OK)

    def _keep(self, sha256: str, *, hint: str | None, client: str | None) -> None:
        at = iso(time.time_ns() // 1_000_000)
        line = json.dumps({"at": at, "tokenSha256": sha256, "tokenTypeHint": hint, "client": client})
        with self.lock, self.file.open("a") as file:
            file.write(f"{line}\n")
        self.say(f"revoked a token: {hint or 'no type hint'}, SHA-256 {sha256[:SHOWN_DIGITS]}...")


@contextlib.contextmanager
def authorization_server(
    *, port: int, file: Path, say: Say, key: RSAPrivateKey | None = None
) -> Iterator[str]:
    """Run the server for the time of the block and yield its URL. ``file`` records the revocations.

    With a ``key`` it is also a token issuer, named by that URL.

    Raises:
        PortError: the port is in use.
    """
    revocations = RevocationEndpoint(file=file, say=say)
    try:
        server = _Server((HOST, port), {REVOKE: {"POST": revocations.revoke}})
    except OSError as error:
        raise PortError.taken(port, variable="AUTH_PORT") from error
    url = f"http://{HOST}:{server.server_port}"
    if key is not None:
        server.routes = {**server.routes, **_issuer_routes(Issuer(url=url, key=key))}
    thread = threading.Thread(target=server.serve_forever, args=(POLL_SECONDS,), name="authorization server")
    thread.start()
    try:
        yield url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _issuer_routes(issuer: Issuer) -> Routes:
    metadata = {"GET": lambda *_: Reply(status=HTTPStatus.OK, body=issuer.metadata())}
    keys = {"GET": lambda *_: Reply(status=HTTPStatus.OK, body=issuer.key_set())}
    return {OPENID: metadata, OAUTH: metadata, JWKS: keys}


def _client(authorization: str | None) -> str | None:
    """Return the client's id if it authenticates by RFC 6749, 2.3.1."""
    if authorization is None:
        return None
    scheme, _, encoded = authorization.partition(" ")
    try:
        name, colon, _secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        name = colon = ""
    if scheme.lower() != "basic" or not name or not colon:
        raise _Refusal(
            "invalid_client", "clients must authenticate by HTTP Basic", status=HTTPStatus.UNAUTHORIZED
        )
    return unquote_plus(name)


def _once(form: Mapping[str, list[str]], name: str) -> str | None:
    """Return a parameter; RFC 6749, 3.1: at most once, and an empty one counts as absent."""
    values = form.get(name, [""])
    if len(values) > 1:
        raise _Refusal("invalid_request", f"the parameter {name} occurs more than once")
    return values[0] or None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], routes: Routes) -> None:
        self.routes = routes
        super().__init__(address, _Handler)

    def handle_error(self, *_: Any) -> None:  # noqa: ANN401 - as in the base class
        """Ignore errors of closed connections."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = IDLE_SECONDS

    def _serve(self) -> None:
        try:
            answer = self._answer()
        except _Refusal as refusal:
            answer = refusal.answer
        payload = b"" if answer.body is None else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in {"Cache-Control": "no-store", **answer.headers}.items():
            self.send_header(name, value)
        if payload:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve  # noqa: N815 - the base class looks up these names

    def _answer(self) -> Reply:
        methods = self.server.routes.get(urlsplit(self.path).path)
        if methods is None:
            return Reply(status=HTTPStatus.NOT_FOUND)
        if self.command not in methods:
            return Reply(status=HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": ", ".join(methods)})
        return methods[self.command](self.headers, self._body())

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdecimal()) or int(length) > MAX_BYTES:
            raise _Refusal("invalid_request", f"Content-Length must be given, and at most {MAX_BYTES}")
        return self.rfile.read(int(length))

    def log_message(self, *_: Any) -> None:  # noqa: ANN401 - as in the base class
        """Log nothing: revocations are reported by ``RevocationEndpoint``."""
