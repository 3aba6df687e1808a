"""A loopback proxy that forwards requests and loses responses, as a broken connection does."""

import contextlib
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import urlsplit

from local.loopback import HOST

TIMEOUT: Final = 60


class LossyProxy(ThreadingHTTPServer):
    """Of the next ``losing`` requests each is forwarded, and its response is not returned.

    ``forwarded``: method and idempotency key of every request forwarded.
    """

    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__((HOST, 0), _Handler)
        parts = urlsplit(url)
        self.to = parts.netloc
        self.url = f"http://{HOST}:{self.server_port}{parts.path}"
        self.losing = 0
        self.forwarded: list[tuple[str, str | None]] = []
        self._lock = threading.Lock()

    def loses(self) -> bool:
        with self._lock:
            lost = self.losing > 0
            self.losing -= lost
            return lost


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LossyProxy

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        connection = HTTPConnection(self.server.to, timeout=TIMEOUT)
        # The Host header stays the signed one.
        connection.request(self.command, self.path, body=body, headers=dict(self.headers.items()))
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        self.server.forwarded.append((self.command, self.headers.get("idempotency-key")))
        self.close_connection = True
        if self.server.loses():
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {"connection", "content-length", "date", "server", "transfer-encoding"}:
                self.send_header(name, value)
        if answer.status != 204:
            self.send_header("content-length", str(len(content)))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _forward  # noqa: N815 - as http.server calls them

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as http.server has it
        """Nothing: what is forwarded is counted."""


@contextlib.contextmanager
def lossy_proxy(url: str) -> Iterator[LossyProxy]:
    with LossyProxy(url) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
