"""The whole stack on this machine for the time of a block, as ``make run`` and ``make demo`` start it."""

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
from local.issuer import load_or_create_key
from local.loopback import PortError
from local.principals import DELEGATES, provision
from local.streams.mapping import MappingError
from session_store.schema import Attribute

FAULTS = (EmulatorError, DeploymentError, MappingError, PortError)
"""Exceptions of a stack that cannot run; each message says what to do."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackOptions:
    """Ports of the stack, and how callers authenticate.

    ``tokens``: by tokens of the stack's own authorization server, instead of signatures. ``auth_port``: of
    that server; None if it is not needed, since there is another ``revocation_endpoint``.
    """

    port: int
    auth_port: int | None
    revocation_endpoint: str | None = None
    tokens: bool = False


@contextlib.contextmanager
def local_stack(
    state: Path, *, options: StackOptions, say: Say, lock: IO[str] | None = None
) -> Iterator[tuple[Emulator, Access]]:
    """Run the stack with its data, URLs and keys in ``state``.

    Raises:
        One of ``FAULTS``.
    """
    with (
        _url_file(state / API_URL) as api_url,
        _url_file(state / AUTH_URL) as auth_url,
        _url_file(state / ISSUER_URL) as issuer_url,
        contextlib.ExitStack() as running_parts,
    ):
        endpoint, issuer = options.revocation_endpoint, None
        if options.auth_port is not None:
            say(f"starting the authorization server on port {options.auth_port}")
            # Started before the emulator and stopped after it: clean-up that is still due begins at once.
            key = load_or_create_key(state / ISSUER_KEY) if options.tokens else None
            server = authorization_server(port=options.auth_port, file=state / REVOCATIONS, say=say, key=key)
            url = running_parts.enter_context(server)
            auth_url.write_text(f"{url}\n")
            endpoint = endpoint or f"{url}{REVOKE}"
            issuer = url if options.tokens else None
        say(f"starting the emulator on port {options.port}")
        emulator = running_parts.enter_context(running(state, port=options.port, lock=lock))
        deployed = deploy(emulator, delegates=DELEGATES, revocation_endpoint=endpoint, issuer=issuer, say=say)
        provision(emulator, deployed=deployed, file=state / CREDENTIALS)
        tables = (deployed.table_name, deployed.audit_table_name)
        mappings = running_parts.enter_context(
            delivering(emulator, ttl_tables=tables, ttl_attribute=Attribute.TTL.value, say=say)
        )
        for mapping in mappings:
            say(f"delivering stream records to {mapping.function_arn.rpartition(':')[2]}")
        if issuer is not None:
            issuer_url.write_text(f"{issuer}\n")
        api_url.write_text(f"{deployed.api_url}\n")
        yield emulator, Access.read(state)


@contextlib.contextmanager
def _url_file(file: Path) -> Iterator[Path]:
    """Yield a file that exists only while its URL answers; one left by a crash is removed first."""
    file.unlink(missing_ok=True)
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)
