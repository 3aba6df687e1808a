"""Authentication of calls: AWS signatures or bearer tokens. No repr shows a secret."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from session_store_client.errors import CredentialsError

SERVICE: Final = "execute-api"
_TOKEN: Final = re.compile(r"[\x21-\x7e]+\Z")
_GATEWAY: Final = re.compile(r"[^.]+\.execute-api\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?\Z")


class Authentication(Protocol):
    def headers(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        """Return the header fields that authenticate this request. Called for each attempt; may block."""
        ...


@dataclass(frozen=True, slots=True)
class Bearer:
    """A bearer token (JWT mode). A callable is called for each attempt, so it can return a fresh one."""

    token: str | Callable[[], str] = field(repr=False)

    def headers(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:  # noqa: ARG002 - independent of the request
        token = self.token if isinstance(self.token, str) else self.token()
        if not _TOKEN.match(token):
            raise CredentialsError(
                "the token is empty or has characters that no header can hold, such as a space or a newline"
            )
        return {"authorization": f"Bearer {token}"}


@dataclass(frozen=True, slots=True)
class Anonymous:
    """No authentication: enough for ``/health``."""

    def headers(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:  # noqa: ARG002 - as Bearer
        return {}


@dataclass(frozen=True, slots=True)
class SigV4:
    """Signs with AWS credentials (IAM mode).

    ``credentials`` are botocore's ``Credentials`` or ``RefreshableCredentials``, read for each attempt.
    """

    credentials: Any = field(repr=False)
    region: str

    @classmethod
    def default(cls, url: str, *, profile: str | None = None, region: str | None = None) -> "SigV4":
        """Use the credentials that AWS tools would: environment, profiles, instance and container roles.

        The region is ``region``, or the one in the API's URL, or the one configured for the profile.

        Raises:
            CredentialsError: no credentials or no region found; the message names the profile.
        """
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - not loaded for bearer tokens
        from botocore.session import Session  # noqa: PLC0415 - likewise

        try:
            session = Session(profile=profile)
            credentials = session.get_credentials()
            resolved = region or region_of(url) or session.get_config_variable("region")
        except BotoCoreError as error:
            raise CredentialsError(str(error)) from error
        if credentials is None:
            raise CredentialsError(f"no AWS credentials found{_for(profile)}")
        if not resolved:
            raise CredentialsError(f"no region to sign for: pass one, or configure one{_for(profile)}")
        return cls(credentials, resolved)

    @classmethod
    def key(
        cls, access_key_id: str, secret_access_key: str, *, region: str, token: str | None = None
    ) -> "SigV4":
        """Use one access key; ``token`` is the session token of temporary credentials."""
        from botocore.credentials import Credentials  # noqa: PLC0415 - as in default

        return cls(Credentials(access_key_id, secret_access_key, token), region)

    def headers(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
        from botocore.auth import SigV4Auth  # noqa: PLC0415 - as in default
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415 - as in default
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - as in default

        signed = {**headers, "host": urlsplit(url).netloc}
        request = AWSRequest(method=method, url=url, data=body, headers=signed)
        try:
            SigV4Auth(self.credentials.get_frozen_credentials(), SERVICE, self.region).add_auth(request)
        except BotoCoreError as error:
            raise CredentialsError(f"the AWS credentials could not be refreshed: {error}") from error
        return {name: value for name, value in request.headers.items() if name.lower() not in signed}


def region_of(url: str) -> str | None:
    """Return the region in an API Gateway host name, None for a custom domain."""
    match = _GATEWAY.match(urlsplit(url).hostname or "")
    return match[1] if match else None


def _for(profile: str | None) -> str:
    return f" for the profile {profile}" if profile else ""
