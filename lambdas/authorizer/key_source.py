"""The issuer's public keys (a JSON Web Key Set, RFC 7517), fetched from its server."""

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

READ_TIMEOUT_SECONDS: Final = 2.0
"""For the connection to an address, and for each read."""

TOTAL_TIMEOUT_SECONDS: Final = 4.0
"""For the whole fetch, slow name resolution and trickling responses included. Well within the function's own
timeout, which would end the process and with it the cached keys."""

MAX_BYTES: Final = 262_144
MAX_KEYS: Final = 100

Jwk = Mapping[str, Any]


class KeySource(Struct, frozen=True, kw_only=True):
    """Sends one request a fetch, to exactly the configured URI: redirects are not followed."""

    uri: str

    def fetch(self) -> Mapping[str, Jwk]:
        """Signing keys by their ids; keys without an id and shared secrets are left out.

        Raises:
            UnavailableError: the server did not answer with a key set.
        """
        try:
            status, body = self._get_in_time()
        except (OSError, HTTPException) as error:
            raise UnavailableError(f"the key set could not be fetched ({type(error).__name__})") from error
        if status != HTTPStatus.OK or len(body) > MAX_BYTES:
            raise UnavailableError(f"the key set's server answered HTTP {status} with {len(body)} bytes")
        try:
            keys = json.loads(body)["keys"]
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            raise UnavailableError("the response is not a key set") from error
        if not isinstance(keys, list) or len(keys) > MAX_KEYS:
            raise UnavailableError(f"the response is not a key set of at most {MAX_KEYS} keys")
        return {key["kid"]: key for key in keys if _is_signing_key(key)}

    def _get_in_time(self) -> tuple[int, bytes]:
        """``_get`` in a thread, as nothing else bounds how long name resolution takes."""
        results: SimpleQueue[tuple[int, bytes] | Exception] = SimpleQueue()

        def get() -> None:
            try:
                results.put(self._get())
            except (OSError, HTTPException) as error:
                results.put(error)

        Thread(target=get, daemon=True).start()
        try:
            result = results.get(timeout=TOTAL_TIMEOUT_SECONDS)
        except Empty as error:
            raise TimeoutError from error
        if isinstance(result, Exception):
            raise result
        return result

    def _get(self) -> tuple[int, bytes]:
        url = urlsplit(self.uri)
        connection = _connection(url.scheme, url.hostname or "", url.port)
        try:
            target = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
            connection.request("GET", target, headers={"Accept": "application/json"})
            response = connection.getresponse()
            return response.status, response.read(MAX_BYTES + 1)
        finally:
            connection.close()


def _connection(scheme: str, host: str, port: int | None) -> HTTPConnection:
    if scheme == "http":
        return HTTPConnection(host, port, timeout=READ_TIMEOUT_SECONDS)
    return HTTPSConnection(host, port, timeout=READ_TIMEOUT_SECONDS, context=ssl.create_default_context())


def _is_signing_key(key: object) -> bool:
    return (
        isinstance(key, dict)
        and isinstance(key.get("kid"), str)
        and key.get("kty") in {"RSA", "EC", "OKP"}
        and key.get("use", "sig") == "sig"
    )
