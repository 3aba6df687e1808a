"""``python -m local.access_token``: prints a token for the stack that ``make run AUTH=jwt`` started.

Environment: ``TENANT``, ``SUBJECT``, ``SCOPE`` (separated by spaces) and ``EXPIRES`` (seconds from now).
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from local.access import ISSUER_KEY, ISSUER_URL, STATE, NotRunningError
from local.credentials import TENANTS
from local.issuer import Issuer, load_or_create_key

HOUR: Final = 3600
LONGEST: Final = 365 * 24 * HOUR


def main(state: Path = STATE) -> int:
    try:
        print(token(state, os.environ))
    except (NotRunningError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def token(state: Path, environment: Mapping[str, str]) -> str:
    """Issue a token as the environment asks.

    Raises:
        NotRunningError: no stack that takes tokens is running.
        ValueError: ``EXPIRES`` is not a number of seconds.
    """
    return issuer(state).token(
        organisation=environment.get("TENANT") or TENANTS[0],
        subject=environment.get("SUBJECT") or "alice",
        scope=environment.get("SCOPE", ""),
        lifetime_seconds=_seconds(environment.get("EXPIRES") or str(HOUR)),
    )


def issuer(state: Path) -> Issuer:
    """Return the issuer of a running stack, with the key in its state."""
    if not (state / ISSUER_URL).exists():
        raise NotRunningError("no stack that takes tokens is running: start one with `make run AUTH=jwt`")
    return Issuer(url=(state / ISSUER_URL).read_text().strip(), key=load_or_create_key(state / ISSUER_KEY))


def _seconds(value: str) -> int:
    """A negative number makes a token that has already expired, to see how it is refused."""
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or int(digits) > LONGEST:
        raise ValueError(f"EXPIRES must be a number of seconds up to {LONGEST}, got {value!r}")
    return int(value)


if __name__ == "__main__":
    sys.exit(main())
