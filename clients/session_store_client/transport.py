"""What both clients have of httpx: how a connection is made, and what its failures mean."""

from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from session_store_client.exchanges import Attempt, Lost, Setting
from session_store_client.problems import Received

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
"""Nothing of the request had left."""

CONNECTIONS: Final = httpx.Limits(max_connections=64, max_keepalive_connections=64)


def checked_url(url: str) -> str:
    """The API's URL, its stage included, without a slash at its end.

    Raises:
        ValueError: neither https nor on this machine: what is signed or borne would be read on the way.
    """
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    if not is_safe or not parts.netloc or parts.username is not None or parts.query or parts.fragment:
        raise ValueError(
            "the URL of the API must be https (http on loopback), without user, query and fragment"
        )
    return url.rstrip("/")


def options(url: str) -> dict[str, Any]:
    """Of an ``httpx.Client``. This machine is reached directly, whatever proxies are configured."""
    return {"limits": CONNECTIONS, "trust_env": urlsplit(url).hostname not in LOOPBACK}


def prepared(attempt: Attempt, setting: Setting) -> httpx.Request:
    """The request, signed: asks for credentials, which may take a while."""
    signature = setting.authentication.headers(attempt.method, attempt.url, attempt.headers, attempt.body)
    timeout = httpx.Timeout(max(attempt.timeout, 0.001))
    return httpx.Request(
        attempt.method,
        attempt.url,
        headers={**attempt.headers, **signature},
        content=attempt.body,
        extensions={"timeout": timeout.as_dict()},
    )


def received(response: httpx.Response) -> Received:
    return Received(status=response.status_code, headers=dict(response.headers), body=response.content)


def lost(error: httpx.RequestError) -> Lost:
    return Lost(error, sent=not isinstance(error, UNSENT))
