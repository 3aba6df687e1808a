"""``python -m local.run``: the whole stack on this machine, until Ctrl-C."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import IO, Final, NoReturn

from local import tenants
from local.delivery import delivering
from local.deployment import DeploymentError, deploy
from local.emulator import REGION, ROOT, EmulatorError, owned, running
from local.streams.mapping import MappingError
from session_store.schema import Attribute

STATE: Final = ROOT / ".local"
API_URL: Final = "api-url"
"""A file of the state: there exactly while the API answers."""

CREDENTIALS: Final = "credentials"
WATCHER_CREDENTIALS: Final = "watcher-credentials"
"""What `make dashboard` reads the metrics with."""

DEFAULT_PORT: Final = "4566"

_STARTED: Final = time.monotonic()
_HOW_TO_CALL: Final = """
  API          {url}
               (also in {file}, for as long as it answers)
  credentials  {credentials}, profiles tenant-a and tenant-b

  Requests are signed (SigV4, service execute-api, region {region}). With curl:

    KEYS=$(sed -n '/tenant-a/,/region/s/.*_key.* = //p' {credentials} | paste -sd: -)
    curl --aws-sigv4 aws:amz:{region}:execute-api --user "$KEYS" {url}/sessions

  Ctrl-C stops everything; the data stay for the next start.
"""


def main(state: Path = STATE) -> int:
    """Run until interrupted; 1 when something is missing, taken or broken, said on standard error."""
    try:
        port = _port()
        with owned(state) as lock:
            _serve(state, port=port, lock=lock)
    except KeyboardInterrupt:
        say(f"stopped; the data stay in {_short(state)}")
        return 0
    except (EmulatorError, DeploymentError, MappingError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _serve(state: Path, *, port: int, lock: IO[str]) -> NoReturn:
    say(f"starting the emulator on port {port}")
    with _announcement(state / API_URL) as announcement, running(state, port=port, lock=lock) as emulator:
        deployed = deploy(emulator, delegates=tenants.PRINCIPALS, say=say)
        credentials = state / CREDENTIALS
        tenants.provision(emulator, api_id=deployed.api_id, file=credentials)
        tenants.provision_watcher(emulator, file=state / WATCHER_CREDENTIALS)
        tables = (deployed.table_name, deployed.audit_table_name)
        with delivering(emulator, ttl_tables=tables, ttl_attribute=Attribute.TTL.value, say=say) as mappings:
            for mapping in mappings:
                say(f"delivering the stream's records to {mapping.name}")
            announcement.write_text(f"{deployed.api_url}\n")
            say("ready")
            facts = {
                "url": deployed.api_url,
                "file": _short(announcement),
                "credentials": _short(credentials),
            }
            print(_HOW_TO_CALL.format(**facts, region=REGION), flush=True)
            emulator.process.wait()
        raise EmulatorError(f"the emulator ended by itself; its log is {_short(state / 'emulator.log')}")


@contextlib.contextmanager
def _announcement(file: Path) -> Iterator[Path]:
    """No URL before the API answers, none that a crash left behind, and none after."""
    file.unlink(missing_ok=True)
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


def _port() -> int:
    value = os.environ.get("PORT") or DEFAULT_PORT
    if not (value.isascii() and value.isdecimal()) or not 1024 <= int(value) <= 65535:  # noqa: PLR2004 - the unprivileged ports
        raise EmulatorError(f"PORT must be a number from 1024 to 65535, got {value!r}")
    return int(value)


def say(line: str) -> None:
    print(f"[{time.monotonic() - _STARTED:5.1f} s] {line}", flush=True)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _short(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


if __name__ == "__main__":
    # SIGINT too: a shell starts what runs in its background with that signal ignored.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    sys.exit(main())
