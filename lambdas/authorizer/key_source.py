"""The issuer's public keys (a JSON Web Key Set, RFC 7517), as its server has them now."""

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlsplit

from session_store.errors import UnavailableError

SECONDS: Final = 2.0
"""For the connection, and for each read. The function's own timeout ends a server that drips."""

MAX_BYTES: Final = 262_144
MAX_KEYS: Final = 100

Jwk = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySource:
    """One request a fetch, to the very URI that is configured: the client follows no redirect."""

    uri: str

    def fetch(self) -> Mapping[str, Jwk]:
        """Keys for signatures by their ids; a key without an id, or of a shared secret, is none.

        Raises:
            UnavailableError: the server did not answer, or not with a key set.
        """
        try:
            status, body = self._get()
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
