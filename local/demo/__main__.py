"""``python -m local.demo``: one session's life through the API, and the end of another, step by step.

Uses the stack that ``make run`` has started; if none is running, it starts one for the demo and stops it
again.
"""

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from local.access import API_URL, ISSUER_URL, STATE, Access
from local.credentials import OPERATOR, TENANTS
from local.demo.end import play_end
from local.demo.life import play_life
from local.demo.steps import DemoError
from local.loopback import free_port
from local.run import say
from local.stack import FAULTS, Place, local_stack
from session_store_client import OutcomeUnknownError
from session_store_client.errors import UnreachableError

TENANT, _ = TENANTS


def main() -> int:
    try:
        with _access() as access:
            with access.client(TENANT) as client, access.client(OPERATOR) as operator:
                play_life(client, operator)
                play_end(access, client, tenant=TENANT)
            print("\ndone: every answer was as expected")
    except (DemoError, *FAULTS) as error:
        print(f"error: {error}{_why(error)}", file=sys.stderr)
        return 1
    return 0


def _why(error: Exception) -> str:
    is_silent = isinstance(error.__cause__, UnreachableError | OutcomeUnknownError)
    return f" (the URL is in {STATE / API_URL}: is `make run` still running?)" if is_silent else ""


@contextlib.contextmanager
def _access() -> Iterator[Access]:
    if (STATE / ISSUER_URL).exists():
        raise DemoError(
            "the running stack takes tokens, but the demo signs its requests: start it without AUTH=jwt"
        )
    if (STATE / API_URL).exists():
        yield Access.read(STATE)
        return
    with tempfile.TemporaryDirectory(prefix="session-store-") as folder:
        say("no local stack is running: starting one for this demo")
        place = Place(port=free_port(), auth_port=free_port())
        with local_stack(Path(folder), place=place, say=say) as (_, access):
            yield access


if __name__ == "__main__":
    sys.exit(main())
