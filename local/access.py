"""Access to a running stack through the files in its state: its URLs and the keys of its users."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.config import Config

from local.clients import client, environment
from local.credentials import Credentials, read_credentials
from local.emulator import ROOT
from local.signed_http import Api
from session_store_client import Client, SigV4

STATE: Final = ROOT / ".local"
"""The state folder of ``make run``."""

API_URL: Final = "api-url"
"""File in the state with the API's URL; exists only while the API answers."""

AUTH_URL: Final = "auth-url"
"""Likewise, of the stack's own authorization server."""

ISSUER_URL: Final = "issuer-url"
"""Likewise, of the stack's own token issuer; exists only if the API takes its tokens."""

ISSUER_KEY: Final = "issuer-key.pem"
CREDENTIALS: Final = "credentials"
REVOCATIONS: Final = "revocations.jsonl"
COMMAND_SECONDS: Final = 60


class NotRunningError(RuntimeError):
    """No stack is running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """An IAM user of the emulator."""

    endpoint: str
    credentials: Credentials

    def client(self, service: str, *, config: Config | None = None) -> Any:  # noqa: ANN401 - as local.clients
        return client(service, endpoint=self.endpoint, credentials=self.credentials, config=config)

    def run(self, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of this project with this user's credentials only."""
        own = environment(endpoint=self.endpoint, credentials=self.credentials)
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env={"PYTHONPATH": "lambdas:clients:.", **own},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    state: Path
    api_url: str
    credentials: Mapping[str, Credentials]

    @classmethod
    def read(cls, state: Path) -> "Access":
        """Read the files in ``state``.

        Raises:
            NotRunningError
        """
        if not (state / API_URL).exists():
            raise NotRunningError("no stack is running: start one with `make run`")
        return cls(
            state=state,
            api_url=(state / API_URL).read_text().strip(),
            credentials=read_credentials(state / CREDENTIALS),
        )

    def api(self, name: str) -> Api:
        """Return a signing caller of the API without retries."""
        return Api(self.api_url, self.credentials[name])

    def client(self, name: str) -> Client:
        """Return the project's client for a user."""
        key = self.credentials[name]
        signing = SigV4.key(key.access_key_id, key.secret_access_key, region=key.region)
        return Client(self.api_url, signing)

    def principal(self, name: str) -> Principal:
        url = urlsplit(self.api_url)
        return Principal(endpoint=f"{url.scheme}://{url.netloc}", credentials=self.credentials[name])

    @property
    def revocations(self) -> Path | None:
        """File with the revocations of the stack's own authorization server; None if another one revokes."""
        return self.state / REVOCATIONS if (self.state / AUTH_URL).exists() else None
