"""Loopback ports; the local stack listens on nothing else."""

import random
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

HOST: Final = "127.0.0.1"
LOWEST_PORT: Final = 1024
"""Of the ports that need no privilege."""

HIGHEST_PORT: Final = 65535

NEVER_OUTGOING: Final = range(20_000, 32_000)
"""Below the ephemeral ports of Linux (from 32768) and macOS (from 49152): no outgoing connection takes a port
between being found free and being listened on."""

_CANDIDATES: Final[Iterator[int]] = iter(random.SystemRandom().sample(NEVER_OUTGOING, len(NEVER_OUTGOING)))


class PortError(RuntimeError):
    """A port is taken or not valid; the message names the variable that chooses another."""

    @classmethod
    def taken(cls, port: int, *, variable: str) -> "PortError":
        return cls(
            f"port {port} is in use: stop the process that listens there, "
            f"or choose another with {variable}=<port>"
        )


def read_port(environment: Mapping[str, str], variable: str, *, default: int) -> int:
    """Read a port from an environment variable.

    Raises:
        PortError: not a port number.
    """
    value = environment.get(variable) or str(default)
    if not (value.isascii() and value.isdecimal()) or not LOWEST_PORT <= int(value) <= HIGHEST_PORT:
        raise PortError(f"{variable} must be a number from {LOWEST_PORT} to {HIGHEST_PORT}, got {value!r}")
    return int(value)


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def free_port() -> int:
    """Return a port that nothing listens on, a different one each time.

    Raises:
        PortError: none is left.
    """
    for port in _CANDIDATES:
        with suppress(OSError), socket.create_server((HOST, port)):
            return port
    raise PortError(f"no port from {NEVER_OUTGOING.start} to {NEVER_OUTGOING.stop - 1} is free")
