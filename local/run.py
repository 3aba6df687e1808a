"""``python -m local.run [<state>]``: runs the whole stack on this machine until Ctrl-C."""

import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import IO, Final, NoReturn

from local.access import API_URL, CREDENTIALS, REVOCATIONS, STATE
from local.credentials import REGION
from local.emulator import ROOT, EmulatorError, owned
from local.loopback import PortError, read_port
from local.stack import FAULTS, StackOptions, local_stack
from session_store.schema import Callers

DEFAULT_PORT: Final = 4566

_STARTED: Final = time.monotonic()
_HOW_TO_CALL: Final = """
  API          {url}
               (also in {file} while the stack runs)
  credentials  {credentials}, profiles tenant-a, tenant-b and operator
  revocations  {revocations}

{how}
  Ctrl-C stops everything; the data are kept for the next start.
"""
_SIGNED: Final = """\
  Requests must be signed (SigV4, service execute-api, region {region}). With curl:

    KEYS=$(sed -n '/tenant-a/,/region/s/.*_key.* = //p' {credentials} | paste -sd: -)
    curl --aws-sigv4 aws:amz:{region}:execute-api --user "$KEYS" {url}/sessions
"""
_WITH_TOKENS: Final = """\
  Requests must carry a token; `make token` prints one (TENANT=, SUBJECT=, SCOPE=, EXPIRES=). With curl:

    curl -H "Authorization: Bearer $(make -s token)" {url}/sessions
"""


class AuthError(RuntimeError):
    """``AUTH`` is not a supported mode."""


def main(state: Path = STATE) -> int:
    """Run until interrupted. Returns 1, with a message on standard error, if the stack cannot run."""
    try:
        options = read_options(os.environ)
        with owned(state) as lock:
            _serve(state, options=options, lock=lock)
    except KeyboardInterrupt:
        say(f"stopped; the data are kept in {_short(state)}")
        return 0
    except (AuthError, *FAULTS) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def read_options(environment: Mapping[str, str]) -> StackOptions:
    """Read ``PORT``, ``AUTH_PORT``, ``AUTH`` and ``REVOCATION_ENDPOINT``.

    Raises:
        PortError, AuthError
    """
    port = read_port(environment, "PORT", default=DEFAULT_PORT)
    auth = environment.get("AUTH") or Callers.IAM
    if auth not in list(Callers):
        raise AuthError(f"AUTH must be one of {', '.join(Callers)}, got {auth!r}")
    endpoint = environment.get("REVOCATION_ENDPOINT") or None
    if endpoint is not None and auth == Callers.IAM:
        return StackOptions(port=port, auth_port=None, revocation_endpoint=endpoint)
    auth_port = read_port(environment, "AUTH_PORT", default=port + 1)
    if auth_port == port:
        raise PortError(f"AUTH_PORT must differ from PORT, but both are {port}")
    return StackOptions(
        port=port, auth_port=auth_port, revocation_endpoint=endpoint, tokens=auth == Callers.JWT
    )


def _serve(state: Path, *, options: StackOptions, lock: IO[str]) -> NoReturn:
    with local_stack(state, options=options, say=say, lock=lock) as (emulator, access):
        say("ready")
        facts = {
            "region": REGION,
            "url": access.api_url,
            "file": _short(state / API_URL),
            "credentials": _short(state / CREDENTIALS),
            "revocations": options.revocation_endpoint or _short(state / REVOCATIONS),
        }
        how = (_WITH_TOKENS if options.tokens else _SIGNED).format(**facts)
        print(_HOW_TO_CALL.format(**facts, how=how), flush=True)
        emulator.process.wait()
        raise EmulatorError(
            f"the emulator exited unexpectedly; see its log, {_short(state / 'emulator.log')}"
        )


def say(line: str) -> None:
    print(f"[{time.monotonic() - _STARTED:5.1f} s] {line}", flush=True)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _short(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


if __name__ == "__main__":
    # SIGINT too: a shell starts background jobs with it ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    sys.exit(main(*map(Path, sys.argv[1:2])))
