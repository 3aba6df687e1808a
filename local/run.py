"""``python -m local.run``: the whole stack on this machine, until Ctrl-C."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

from local import tenants
from local.deployment import DeploymentError, deploy
from local.emulator import ROOT, EmulatorError, owned, running

STATE: Final = ROOT / ".local"
API_URL: Final = STATE / "api-url"
"""Exists exactly while the API answers."""
CREDENTIALS: Final = STATE / "credentials"
DEFAULT_PORT: Final = "4566"


def main() -> int:
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with owned(STATE), _announced():
            _run(_port())
    except KeyboardInterrupt:
        say("stopped; the data stay in .local")
        return 0
    except (EmulatorError, DeploymentError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


@contextlib.contextmanager
def _announced() -> Iterator[None]:
    """No URL before the API answers, none that a crash left behind, and none after."""
    API_URL.unlink(missing_ok=True)
    try:
        yield
    finally:
        API_URL.unlink(missing_ok=True)


def _run(port: int) -> NoReturn:
    say(f"starting the emulator on port {port}")
    with running(STATE, port=port) as emulator:
        deployed = deploy(emulator, delegates=tenants.PRINCIPALS, say=say)
        tenants.provision(emulator, api_id=deployed.api_id, file=CREDENTIALS)
        API_URL.write_text(f"{deployed.api_url}\n")
        say("ready")
        print(
            _HOW_TO_CALL.format(url=deployed.api_url, credentials=_short(CREDENTIALS), file=_short(API_URL)),
            flush=True,
        )
        emulator.process.wait()
        raise EmulatorError(f"the emulator ended by itself; its log is {_short(STATE / 'emulator.log')}")


def _port() -> int:
    value = os.environ.get("PORT") or DEFAULT_PORT
    if not value.isdecimal() or not 1024 <= int(value) <= 65535:  # noqa: PLR2004 - the unprivileged ports
        raise EmulatorError(f"PORT must be a number from 1024 to 65535, got {value!r}")
    return int(value)


def say(line: str) -> None:
    print(f"[{time.monotonic() - _STARTED:5.1f} s] {line}", flush=True)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT))


_STARTED: Final = time.monotonic()
_HOW_TO_CALL: Final = """
  API          {url}          (also in {file})
  credentials  {credentials}, profiles tenant-a and tenant-b

  Sign requests with SigV4, service execute-api, region us-east-1:

    curl --aws-sigv4 aws:amz:us-east-1:execute-api --user "$ACCESS_KEY_ID:$SECRET_ACCESS_KEY" {url}/sessions

  Ctrl-C stops everything; the data stay for the next start.
"""

if __name__ == "__main__":
    sys.exit(main())
