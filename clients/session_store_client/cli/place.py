"""Where the command connects, and as whom."""

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


class PlaceError(Exception):
    """It is not said where the API is, or whose credentials call it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    url: str
    authentication: Authentication = field(repr=False)
    subject: str | None

    def client(self) -> Client:
        return Client(self.url, self.authentication, subject=self.subject)


def connect(options: argparse.Namespace, environment: Mapping[str, str]) -> Place:
    """Raises:
    PlaceError, CredentialsError
    """
    if options.local is not None:
        folder = Path(options.local)
        url = _local_url(folder)
        # A token that the environment holds is for elsewhere.
        signing: Authentication = (
            Bearer(options.token) if options.token else _local_key(folder, options.profile or LOCAL_PROFILE)
        )
        return Place(url=url, authentication=signing, subject=options.subject)
    token = options.token or (None if options.profile else environment.get(TOKEN_VARIABLE))
    given: str | None = options.url or environment.get(URL_VARIABLE)
    if not given:
        raise PlaceError(f"where is the API? Give --url, set {URL_VARIABLE}, or --local beside `make run`")
    authentication: Authentication = (
        Bearer(token) if token else SigV4.default(given, profile=options.profile, region=options.region)
    )
    return Place(url=given, authentication=authentication, subject=options.subject)


def _local_url(folder: Path) -> str:
    try:
        return (folder / "api-url").read_text().strip()
    except OSError as error:
        raise PlaceError(
            f"no stack runs here: {folder / 'api-url'} cannot be read; `make run` starts one"
        ) from error


def _local_key(folder: Path, profile: str) -> SigV4:
    file = folder / "credentials"
    try:
        profiles = ConfigParser()
        profiles.read_string(file.read_text())
        key = profiles[profile]
        return SigV4.key(key["aws_access_key_id"], key["aws_secret_access_key"], region=key["region"])
    except (OSError, ConfigError, KeyError) as error:
        raise PlaceError(f"{file} has no usable key of {profile}") from error
