"""The issuer's public keys (a JSON Web Key Set, RFC 7517), as its server has them now."""

import json
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from session_store.errors import UnavailableError

SECONDS: Final = 2.0
"""For the connection to an address, and for each read."""

WHOLE_SECONDS: Final = 4.0
"""For all of it, a slow name server and one that drips included: well within the function's own timeout,
which would take the keys that are known with it."""

MAX_BYTES: Final = 262_144
MAX_KEYS: Final = 100

Jwk = Mapping[str, Any]


class KeySource(Struct, frozen=True, kw_only=True):
    """One request a fetch, to the very URI that is configured: the client follows no redirect."""

    uri: str

    def fetch(self) -> Mapping[str, Jwk]:
        """Keys for signatures by their ids; a key without an id, or of a shared secret, is none.

        Raises:
            UnavailableError: the server did not answer, or not with a key set.
        """
        try:
            status, body = self._got()
        except (OSError, HTTPException) as error:
            raise UnavailableError(f"the key set could not be fetched ({type(error).__name__})") from error
        if status != HTTPStatus.OK or len(body) > MAX_BYTES:
            raise UnavailableError(f"the key set's server answered HTTP {status}, {len(body)} bytes")
        try:
            keys = json.loads(body)["keys"]
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            raise UnavailableError("the key set is none") from error
        if not isinstance(keys, list) or len(keys) > MAX_KEYS:
            raise UnavailableError("the key set is none, or too long")
        return {key["kid"]: key for key in keys if _signs(key)}

    def _got(self) -> tuple[int, bytes]:
        """What ``_get`` answers, if it does in time; nothing else bounds how long a name takes to resolve."""
        came: SimpleQueue[tuple[int, bytes] | Exception] = SimpleQueue()

        def get() -> None:
            try:
                came.put(self._get())
            except (OSError, HTTPException) as error:
                came.put(error)

        Thread(target=get, daemon=True).start()
        try:
            answer = came.get(timeout=WHOLE_SECONDS)
        except Empty as error:
            raise TimeoutError from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _get(self) -> tuple[int, bytes]:
        url = urlsplit(self.uri)
        connection = _connection(url.scheme, url.hostname or "", url.port)
        try:
            target = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
            connection.request("GET", target, headers={"Accept": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read(MAX_BYTES + 1)
        finally:
            connection.close()


def _connection(scheme: str, host: str, port: int | None) -> HTTPConnection:
    if scheme == "http":
        return HTTPConnection(host, port, timeout=SECONDS)
    return HTTPSConnection(host, port, timeout=SECONDS, context=ssl.create_default_context())


def _signs(key: object) -> bool:
    return (
        isinstance(key, dict)
        and isinstance(key.get("kid"), str)
        and key.get("kty") in {"RSA", "EC", "OKP"}
        and key.get("use", "sig") == "sig"
    )
