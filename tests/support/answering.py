"""A server on loopback that answers as it is told and keeps what it was asked."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from urllib.parse import parse_qs

from local.loopback import HOST


@dataclass(frozen=True, kw_only=True)
class Received:
    path: str
    headers: dict[str, str]
    """By lower-case name."""

    body: bytes

    @property
    def form(self) -> dict[str, list[str]]:
        return parse_qs(self.body.decode())


@dataclass(kw_only=True)
class AnsweringServer:
    """Answers ``status`` and ``body`` with ``headers``, once it is ``ready`` to."""

    url: str = ""
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)
    """Set once something is received: later than a caller may have given up."""

    ready: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.ready.set()


ServerT = TypeVar("ServerT", bound=AnsweringServer)


@contextmanager
def answering(state: ServerT, *, path: str) -> Iterator[ServerT]:
    """``path`` is where ``state.url`` then points; whatever is asked for is answered."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            fields = {name.lower(): value for name, value in self.headers.items()}
            state.received.append(Received(path=self.path, headers=fields, body=body))
            state.asked.set()
            state.ready.wait()
            self.send_response(state.status)
            for name, value in {**state.headers, "content-length": str(len(state.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(state.body)

        do_GET = do_POST = _answer  # noqa: N815 - as http.server calls them

        def log_message(self, *_: Any) -> None:
            """Nothing: a test reads what was received."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """A caller that hangs up in time is no error here."""

    server = Server((HOST, 0), Handler)
    state.url = f"http://{HOST}:{server.server_port}{path}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        state.ready.set()
        server.shutdown()
        server.server_close()
        thread.join()
