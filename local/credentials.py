"""Keys of the local stack's users, in an AWS credentials file."""

import configparser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REGION: Final = "us-east-1"
TENANTS: Final = ("tenant-a", "tenant-b")
OPERATOR: Final = "operator"
"""The users of the local stack, by their profiles in the credentials file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    access_key_id: str
    secret_access_key: str
    region: str = REGION


def read_credentials(file: Path) -> Mapping[str, Credentials]:
    """Read the keys by profile; none if the file does not exist."""
    profiles = configparser.ConfigParser()
    profiles.read(file)
    return {
        name: Credentials(
            access_key_id=profiles[name]["aws_access_key_id"],
            secret_access_key=profiles[name]["aws_secret_access_key"],
            region=profiles[name]["region"],
        )
        for name in profiles.sections()
    }


def write_credentials(file: Path, credentials: Mapping[str, Credentials]) -> None:
    """Write the keys to a file readable by its owner only."""
    profiles = configparser.ConfigParser()
    for name, key in credentials.items():
        profiles[name] = {
            "aws_access_key_id": key.access_key_id,
            "aws_secret_access_key": key.secret_access_key,
            "region": key.region,
        }
    file.touch(mode=0o600)
    with file.open("w") as stream:
        profiles.write(stream)
