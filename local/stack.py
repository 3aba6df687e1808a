"""The whole stack on this machine for the duration of a block, as ``make run`` and ``make demo`` start it."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from local.access import API_URL, AUTH_URL, CREDENTIALS, ISSUER_KEY, ISSUER_URL, REVOCATIONS, Access
from local.authorization_server import REVOKE, authorization_server
from local.delivery import delivering
from local.deployment import DeploymentError, deploy
from local.emulator import Emulator, EmulatorError, running
from local.issuer import kept_key
from local.loopback import PortError
from local.principals import DELEGATES, provision
from local.streams.mapping import MappingError
from session_store.schema import Attribute

FAULTS = (EmulatorError, DeploymentError, MappingError, PortError)
"""Errors that keep the stack from running; each says what to do."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Ports, and how callers authenticate.

    With an external ``revocation_endpoint`` it has no authorization server, unless callers use its tokens.
    """

    port: int
    auth_port: int | None
    revocation_endpoint: str | None = None
    tokens: bool = False


@contextlib.contextmanager
def local_stack(
    state: Path, *, place: Place, say: Say, lock: IO[str] | None = None
) -> Iterator[tuple[Emulator, Access]]:
    """Start everything, with its data in ``state``, where it also publishes how to call it.

    Raises one of ``FAULTS``.
    """
    with (
        _announced(state / API_URL) as api_url,
        _announced(state / AUTH_URL) as auth_url,
        _announced(state / ISSUER_URL) as issuer_url,
        contextlib.ExitStack() as ours,
    ):
        endpoint, issuer = place.revocation_endpoint, None
        if place.auth_port is not None:
            say(f"starting the authorization server on port {place.auth_port}")
            # Started before the emulator and stopped after it, so that pending clean-ups can revoke.
            key = kept_key(state / ISSUER_KEY) if place.tokens else None
            server = authorization_server(port=place.auth_port, file=state / REVOCATIONS, say=say, key=key)
            url = ours.enter_context(server)
            auth_url.write_text(f"{url}\n")
            endpoint = endpoint or f"{url}{REVOKE}"
            issuer = url if place.tokens else None
        say(f"starting the emulator on port {place.port}")
        emulator = ours.enter_context(running(state, port=place.port, lock=lock))
        deployed = deploy(emulator, delegates=DELEGATES, revocation_endpoint=endpoint, issuer=issuer, say=say)
        provision(emulator, deployed=deployed, file=state / CREDENTIALS)
        tables = (deployed.table_name, deployed.audit_table_name)
        mappings = ours.enter_context(
            delivering(emulator, ttl_tables=tables, ttl_attribute=Attribute.TTL.value, say=say)
        )
        for mapping in mappings:
            say(f"delivering stream records to {mapping.name}")
        if issuer is not None:
            issuer_url.write_text(f"{issuer}\n")
        api_url.write_text(f"{deployed.api_url}\n")
        yield emulator, Access.read(state)


@contextlib.contextmanager
def _announced(file: Path) -> Iterator[Path]:
    """A file that exists only while its URL answers; one left by a crash is removed."""
    file.unlink(missing_ok=True)
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)
