"""A signing HTTP caller of the API without retries, for tests, benchmarks and the raw contract."""

import json
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as SigningKey

from local.credentials import Credentials

TIMEOUT_SECONDS: Final = 30
IDLE_SECONDS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401 - a JSON body
        return json.loads(self.body)


class Api:
    """Calls the API at ``url``, signed with ``credentials`` if given. Each thread has its own connection."""

    def __init__(self, url: str, credentials: Credentials | None = None) -> None:
        parts = urlsplit(url)
        self._host = parts.netloc
        self._base = parts.path.rstrip("/")
        self._url = url
        self._credentials = credentials
        self._local = threading.local()
        self._opened: list[HTTPConnection] = []
        weakref.finalize(self, _close, self._opened)

    def as_(self, credentials: Credentials | None) -> "Api":
        return Api(self._url, credentials)

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request once. ``path`` is percent-encoded and includes the query.

        A ``body`` of bytes is sent as it is, any other as JSON.
        """
        target = self._base + path
        payload = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        sent = (
            {"content-type": "application/json", **(headers or {})}
            if payload is not None
            else {**(headers or {})}
        )
        return self._send(method, target, payload, self._signed(method, target, payload, sent))

    def call_with(
        self,
        method: str,
        path: str,
        fields: Sequence[tuple[str, str]],
        *,
        body: bytes | None = None,
        spelling: Callable[[str], str] = str,
    ) -> Answer:
        """As ``call``, with exactly these header ``fields``, unsigned: in this order, repeated as given.

        ``spelling`` maps each header name, also those of the signature, to its case on the wire.
        """
        target = self._base + path
        signature = self._signed(method, target, body, {})
        connection = self._connection()
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        length = [] if body is None else [("content-length", str(len(body)))]
        for name, value in [*{"host": self._host, **signature}.items(), *length, *fields]:
            connection.putheader(spelling(name), value)
        connection.endheaders(body)
        return self._received(connection)

    def _signed(
        self, method: str, target: str, payload: bytes | None, headers: Mapping[str, str]
    ) -> dict[str, str]:
        if self._credentials is None:
            return dict(headers)
        request = AWSRequest(
            method=method,
            url=f"http://{self._host}{target}",
            data=payload or b"",
            headers={**headers, "host": self._host},
        )
        key = SigningKey(self._credentials.access_key_id, self._credentials.secret_access_key)
        SigV4Auth(key, "execute-api", self._credentials.region).add_auth(request)
        return dict(request.headers.items())

    def _send(self, method: str, target: str, payload: bytes | None, headers: Mapping[str, str]) -> Answer:
        connection = self._connection()
        try:
            connection.request(method, target, body=payload, headers=headers)
        except BaseException:
            connection.close()
            raise
        return self._received(connection)

    def _received(self, connection: HTTPConnection) -> Answer:
        try:
            response = connection.getresponse()
            body = response.read()
        except BaseException:
            # Not sent again: a test that counts effects must see every request.
            connection.close()
            raise
        self._local.used_at = time.monotonic()
        return Answer(
            status=response.status,
            headers={name.lower(): value for name, value in response.getheaders()},
            body=body,
        )

    def _connection(self) -> HTTPConnection:
        """Return this thread's connection; a new one if the server may have closed the idle one."""
        known: HTTPConnection | None = getattr(self._local, "connection", None)
        if known is not None and time.monotonic() - self._local.used_at < IDLE_SECONDS:
            return known
        opened = HTTPConnection(self._host, timeout=TIMEOUT_SECONDS)
        self._opened.append(opened)
        self._local.connection = opened
        return opened


def _close(connections: Iterable[HTTPConnection]) -> None:
    for connection in connections:
        connection.close()
