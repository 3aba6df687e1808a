"""Who calls: AWS credentials that sign, or a bearer token. Neither shows its secret."""

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
        """The header fields that make this very request the caller's. Asked at each attempt."""
        ...


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token (JWT mode); a callable is asked at each attempt, so that it can hand out a fresh one."""

    token: str | Callable[[], str] = field(repr=False)

    def headers(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:  # noqa: ARG002 - the same for every request
        token = self.token if isinstance(self.token, str) else self.token()
        if not _TOKEN.match(token):
            raise CredentialsError("the token is empty, or holds what no header may: a space, a line feed")
        return {"authorization": f"Bearer {token}"}


@dataclass(frozen=True, slots=True)
class Anonymous:
    """For ``/health``, which needs no caller."""

    def headers(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:  # noqa: ARG002 - as Bearer
        return {}


@dataclass(frozen=True, slots=True)
class SigV4:
    """Signs with credentials of AWS (IAM mode).

    ``credentials`` are botocore's ``Credentials`` or ``RefreshableCredentials``, asked at each attempt.
    """

    credentials: Any = field(repr=False)
    region: str

    @classmethod
    def default(cls, url: str, *, profile: str | None = None, region: str | None = None) -> "SigV4":
        """What AWS's tools would use, in botocore's order: environment, profiles, roles of what it runs on.

        The region: the one given, or that of the API's own URL, or the one configured for the profile.

        Raises:
            CredentialsError: none is found; says what was looked for.
        """
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - who brings a token need not load it
        from botocore.session import Session  # noqa: PLC0415 - likewise

        try:
            session = Session(profile=profile)
            credentials = session.get_credentials()
            found = region or region_of(url) or session.get_config_variable("region")
        except BotoCoreError as error:
            raise CredentialsError(str(error)) from error
        if credentials is None:
            raise CredentialsError(f"no AWS credentials are found{_of(profile)}")
        if not found:
            raise CredentialsError(f"no region to sign for: give one, or configure it{_of(profile)}")
        return cls(credentials, found)

    @classmethod
    def key(
        cls, access_key_id: str, secret_access_key: str, *, region: str, token: str | None = None
    ) -> "SigV4":
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
            raise CredentialsError(f"the AWS credentials cannot be refreshed: {error}") from error
        return {name: value for name, value in request.headers.items() if name.lower() not in signed}


def region_of(url: str) -> str | None:
    """The region in API Gateway's own host name; None for a custom domain."""
    match = _GATEWAY.match(urlsplit(url).hostname or "")
    return match[1] if match else None


def _of(profile: str | None) -> str:
    return f" for the profile {profile}" if profile else ""
