"""An authorization server's revocation endpoint (RFC 7009) on loopback."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs


@dataclass(frozen=True, kw_only=True)
class Received:
    path: str
    headers: dict[str, str]
    """By lower-case name."""
    form: dict[str, list[str]]


@dataclass(kw_only=True)
class AuthorizationServer:
    """Answers ``status`` and ``body``, after ``delay`` seconds, with ``headers``."""

    url: str = ""
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    received: list[Received] = field(default_factory=list)

    @property
    def revoked(self) -> list[str]:
        return [token for request in self.received for token in request.form["token"]]


@contextmanager
def authorization_server() -> Iterator[AuthorizationServer]:
    state = AuthorizationServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["content-length"])).decode()
            fields = {name.lower(): value for name, value in self.headers.items()}
            state.received.append(Received(path=self.path, headers=fields, form=parse_qs(text)))
            time.sleep(state.delay)
            self.send_response(state.status)
            for name, value in {**state.headers, "content-length": str(len(state.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(state.body)

        def log_message(self, *_: Any) -> None:
            """Nothing: a test reads what was received."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """A caller that hangs up in time is no error here."""

    server = Server(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/revoke"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
