"""The CDK app deployed with ``auth=jwt`` into an emulator of its own, and callers that show tokens."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local.authorization_server import authorization_server
from local.deployment import deploy
from local.emulator import running
from local.issuer import Issuer, load_or_create_key
from local.loopback import free_port
from local.principals import provision
from local.signed_http import Answer, Api
from tests.support.emulator import LiveStack

HOUR: Final = 3600


@dataclass(frozen=True, slots=True)
class Bearing:
    """A caller that shows a token."""

    api: Api
    token: str

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        return self.api.call(method, path, body, {"authorization": f"Bearer {self.token}", **(headers or {})})


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenStack:
    """``server`` ends the issuer's server when it is closed."""

    stack: LiveStack
    issuer: Issuer
    server: ExitStack

    def bearing(self, token: str) -> Bearing:
        return Bearing(self.stack.api(), token)

    def caller(self, subject: str, *, organisation: str = "acme", scope: str = "") -> Bearing:
        return self.bearing(self.token(subject, organisation=organisation, scope=scope))

    def token(
        self, subject: str = "alice", *, organisation: str = "acme", scope: str = "", **claims: object
    ) -> str:
        return self.issuer.token(
            organisation=organisation, subject=subject, scope=scope, lifetime_seconds=HOUR, **claims
        )


@contextmanager
def token_stack(folder: Path) -> Iterator[TokenStack]:
    key = load_or_create_key(folder / "issuer-key.pem")
    with ExitStack() as server, running(folder, port=free_port()) as emulator:
        url = server.enter_context(
            authorization_server(port=0, file=folder / "revocations.jsonl", say=print, key=key)
        )
        outputs = deploy(emulator, delegates=(), revocation_endpoint=None, issuer=url, say=print)
        credentials = folder / "credentials"
        keys = provision(emulator, deployed=outputs, file=credentials)
        stack = LiveStack(emulator=emulator, deployed=outputs, keys=keys, credentials=credentials)
        yield TokenStack(stack=stack, issuer=Issuer(url=url, key=key), server=server)
