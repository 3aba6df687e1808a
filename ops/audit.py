"""``python -m ops.audit``: the whole audit of one session, read with AWS credentials, without the API.

Prints a JSON line an entry, each as an item of ``GET /sessions/{sessionId}/audit``, the oldest first. After
the session's end too: then the last is the summary of it. Ends with 0, with 1 when the audit has nothing of
that session, with 2 when it could not be run.
"""

import argparse
import sys
from collections.abc import Sequence

import msgspec

from ops.deployed import OPERATOR, REFUSALS, environment, place
from session_api.answers import audit_answer
from session_store.bootstrap import open_store
from session_store.services.audit_trail import AuditTrail
from session_store.settings import read_settings


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    printed = False
    try:
        trail = connected(stage=options.stage, region=options.region)
        for entry in trail.whole(OPERATOR, options.session_id):
            print(msgspec.json.encode(audit_answer(entry)).decode())
            printed = True
    except REFUSALS as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not printed:
        print("the audit has nothing of that session", file=sys.stderr)
    return 0 if printed else 1


def connected(*, stage: str, region: str) -> AuditTrail:
    """The use case as the stage's API has it.

    Raises:
        NotDeployedError
    """
    return open_store(read_settings(environment(stage=stage, region=region))).audit


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m ops.audit", parents=[place()], description="The audit of a session."
    )
    parser.add_argument("session_id", help="the sessionId that the store minted")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
