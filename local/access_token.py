"""``python -m local.access_token``: a token for the stack that ``make run AUTH=jwt`` has started, on stdout.

``TENANT``, ``SUBJECT``, ``SCOPE`` (separated by spaces) and ``EXPIRES`` (seconds) describe the caller.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from local.access import ISSUER_KEY, ISSUER_URL, STATE, NotRunningError
from local.credentials import TENANTS
from local.issuer import Issuer, kept_key

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
    """Raises:
    NotRunningError: no stack that takes tokens is running.
    ValueError: ``EXPIRES`` is no number of seconds.
    """
    return issuer(state).token(
        organisation=environment.get("TENANT") or TENANTS[0],
        subject=environment.get("SUBJECT") or "alice",
        scope=environment.get("SCOPE", ""),
        lives=_seconds(environment.get("EXPIRES") or str(HOUR)),
    )


def issuer(state: Path) -> Issuer:
    """The issuer of a running stack, with the key from its state."""
    if not (state / ISSUER_URL).exists():
        raise NotRunningError(
            "no local stack that takes tokens is running: start one with `make run AUTH=jwt`"
        )
    return Issuer(url=(state / ISSUER_URL).read_text().strip(), key=kept_key(state / ISSUER_KEY))


def _seconds(value: str) -> int:
    """A negative number makes an expired token, to see how it is refused."""
    digits = value.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or int(digits) > LONGEST:
        raise ValueError(f"EXPIRES must be a number of seconds up to {LONGEST}, got {value!r}")
    return int(value)


if __name__ == "__main__":
    sys.exit(main())
