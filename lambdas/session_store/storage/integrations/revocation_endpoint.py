"""Token revocation at an authorization server (OAuth 2.0 Token Revocation, RFC 7009)."""

from http import HTTPStatus
from typing import Final
from urllib.parse import quote_plus, urlencode

import urllib3
from msgspec import Struct, field
from urllib3.exceptions import HTTPError

from session_store.domain.credential import Credential
from session_store.domain.json_values import parse
from session_store.errors import InvalidRequestError, UnavailableError
from session_store.ports import SecretStorage

CONNECT_SECONDS: Final = 2.0
READ_SECONDS: Final = 5.0
ANSWER_BYTES: Final = 4096
"""Bytes of a refusal that are read, for its error code."""

TRY_AGAIN: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})

ERROR_CODES: Final = frozenset(
    {
        "invalid_request",
        "invalid_client",
        "invalid_grant",
        "unauthorized_client",
        "unsupported_grant_type",
        "unsupported_token_type",
    }
)
"""RFC 6749, 5.2 and RFC 7009, 2.2.1. No other text of the server is repeated, as it might quote the token."""


def pool() -> urllib3.PoolManager:
    """Connections without retries and redirects: a token goes only to the configured endpoint."""
    return urllib3.PoolManager(
        timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS), retries=False
    )


class RevocationEndpoint(Struct, frozen=True, kw_only=True):
    """The endpoint. ``client_secret`` names the secret with the client's id and secret, if it needs one."""

    url: str
    secrets: SecretStorage
    client_secret: str | None = None
    http: urllib3.PoolManager = field(default_factory=pool)

    def revoke(self, credential: Credential) -> str | None:
        form = {"token": credential.token}
        if credential.token_type_hint is not None:
            form["token_type_hint"] = credential.token_type_hint
        headers = {"Content-Type": "application/x-www-form-urlencoded", **self._authorization()}
        try:
            answer = self.http.request(
                "POST",
                self.url,
                body=urlencode(form),
                headers=headers,
                redirect=False,
                preload_content=False,
            )
            try:
                return _failure(answer.status, answer.read(ANSWER_BYTES))
            finally:
                answer.close()
        except HTTPError as error:
            raise UnavailableError(
                f"the revocation endpoint did not answer ({type(error).__name__})"
            ) from error

    def _authorization(self) -> dict[str, str]:
        """HTTP Basic, with id and secret encoded as in RFC 6749, 2.3.1."""
        if self.client_secret is None:
            return {}
        try:
            client = parse(self.secrets.read(self.client_secret) or "")
            basic = f"{quote_plus(client['clientId'])}:{quote_plus(client['clientSecret'])}"
        except (InvalidRequestError, KeyError, TypeError):
            # Without a cause, which may quote the secret.
            raise UnavailableError("the secret of the revocation client is missing or malformed") from None
        return urllib3.make_headers(basic_auth=basic)


def _failure(status: int, body: bytes) -> str | None:
    if status == HTTPStatus.OK:
        return None
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in TRY_AGAIN:
        raise UnavailableError(f"the revocation endpoint asked for a retry (HTTP {status})")
    code = _error_code(body)
    return f"HTTP {status} {code}" if code else f"HTTP {status}"


def _error_code(body: bytes) -> str | None:
    try:
        answer = parse(body)
    except InvalidRequestError:
        return None
    code = answer.get("error") if isinstance(answer, dict) else None
    return code if isinstance(code, str) and code in ERROR_CODES else None
