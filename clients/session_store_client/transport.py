"""httpx as both clients use it: connections, requests, and what transport errors mean."""

from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from session_store_client.exchanges import Attempt, ClientSettings, TransportFailure
from session_store_client.problems import HttpResponse

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
"""Errors raised before any byte of the request was sent."""

CONNECTIONS: Final = httpx.Limits(max_connections=64, max_keepalive_connections=64)


def validated_url(url: str) -> str:
    """Return the API's URL without a trailing slash.

    Raises:
        ValueError: neither https nor on loopback, so credentials could be read on the way; or it has a user,
            a query or a fragment.
    """
    parts = urlsplit(url)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    if not is_safe or not parts.netloc or parts.username is not None or parts.query or parts.fragment:
        raise ValueError(
            "the URL of the API must be https (or http on loopback), without user, query and fragment"
        )
    return url.rstrip("/")


def httpx_options(url: str) -> dict[str, Any]:
    """Keyword arguments of an httpx client. Loopback is reached directly, whatever proxies are configured."""
    return {"limits": CONNECTIONS, "trust_env": urlsplit(url).hostname not in LOOPBACK}


def build_request(attempt: Attempt, settings: ClientSettings) -> httpx.Request:
    """Build the signed request of an attempt. Fetching credentials may block."""
    signature = settings.authentication.headers(attempt.method, attempt.url, attempt.headers, attempt.body)
    timeout = httpx.Timeout(max(attempt.timeout_seconds, 0.001))
    return httpx.Request(
        attempt.method,
        attempt.url,
        headers={**attempt.headers, **signature},
        content=attempt.body,
        extensions={"timeout": timeout.as_dict()},
    )


def read_response(response: httpx.Response) -> HttpResponse:
    return HttpResponse(status=response.status_code, headers=dict(response.headers), body=response.content)


def transport_failure(error: httpx.RequestError) -> TransportFailure:
    return TransportFailure(error, sent=not isinstance(error, UNSENT))
