"""``python -m local.demo``: plays the life of a session and the end of another, step by step.

Calls the stack of ``make run`` if one is running, otherwise starts one for the time of the demo.
"""

import contextlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from local.access import API_URL, ISSUER_URL, STATE, Access
from local.credentials import OPERATOR, TENANTS
from local.demo.session_end import play_session_end
from local.demo.session_life import play_session_life
from local.demo.steps import DemoError
from local.loopback import free_port
from local.run import say
from local.stack import FAULTS, StackOptions, local_stack
from session_store_client import OutcomeUnknownError
from session_store_client.errors import UnreachableError

TENANT, _ = TENANTS


def main() -> int:
    try:
        with _access() as access:
            print(f"\nThe life of a session, played against {access.api_url}")
            with access.client(TENANT) as client, access.client(OPERATOR) as operator:
                play_session_life(client, operator)
                play_session_end(access, client, tenant=TENANT)
            print("\nDone: every answer was as expected.")
    except (DemoError, *FAULTS) as error:
        print(f"error: {error}{_hint(error)}", file=sys.stderr)
        return 1
    return 0


def _hint(error: Exception) -> str:
    has_no_response = isinstance(error.__cause__, UnreachableError | OutcomeUnknownError)
    return f" (URL from {STATE / API_URL}; is `make run` still running?)" if has_no_response else ""


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
        say("no stack is running: starting one for this demo")
        options = StackOptions(port=free_port(), auth_port=free_port())
        with local_stack(Path(folder), options=options, say=say) as (_, access):
            yield access


if __name__ == "__main__":
    sys.exit(main())
