"""The API that the command calls, and its credentials, from options and environment."""

import argparse
from collections.abc import Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from session_store_client.authentication import Authentication, Bearer, SigV4
from session_store_client.client import Client

URL_VARIABLE: Final = "SESSION_STORE_URL"
TOKEN_VARIABLE: Final = "SESSION_STORE_TOKEN"  # noqa: S105 - the variable's name
LOCAL_PROFILE: Final = "tenant-a"


class ConnectionOptionsError(Exception):
    """Options and environment name no API to call, or no usable credentials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    url: str
    authentication: Authentication = field(repr=False)
    subject: str | None

    def client(self) -> Client:
        return Client(self.url, self.authentication, subject=self.subject)


def connect(options: argparse.Namespace, environment: Mapping[str, str]) -> Connection:
    """Read where to connect and as whom.

    Raises:
        ConnectionOptionsError, CredentialsError
    """
    if options.local is not None:
        folder = Path(options.local)
        url = _local_url(folder)
        # A token in the environment is for another deployment.
        local: Authentication = (
            Bearer(options.token) if options.token else _local_key(folder, options.profile or LOCAL_PROFILE)
        )
        return Connection(url=url, authentication=local, subject=options.subject)
    token = options.token or (None if options.profile else environment.get(TOKEN_VARIABLE))
    api_url: str | None = options.url or environment.get(URL_VARIABLE)
    if not api_url:
        raise ConnectionOptionsError(
            f"no API to call: pass --url, set {URL_VARIABLE}, or pass --local while `make run` runs"
        )
    authentication: Authentication = (
        Bearer(token) if token else SigV4.default(api_url, profile=options.profile, region=options.region)
    )
    return Connection(url=api_url, authentication=authentication, subject=options.subject)


def _local_url(folder: Path) -> str:
    try:
        return (folder / "api-url").read_text().strip()
    except OSError as error:
        raise ConnectionOptionsError(
            f"no local stack is running: cannot read {folder / 'api-url'}; start one with `make run`"
        ) from error


def _local_key(folder: Path, profile: str) -> SigV4:
    file = folder / "credentials"
    try:
        profiles = ConfigParser()
        profiles.read_string(file.read_text())
        key = profiles[profile]
        return SigV4.key(key["aws_access_key_id"], key["aws_secret_access_key"], region=key["region"])
    except (OSError, ConfigError, KeyError) as error:
        raise ConnectionOptionsError(f"{file} has no usable key for the profile {profile}") from error
