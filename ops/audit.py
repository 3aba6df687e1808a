"""``python -m ops.audit``: the whole audit of a session or task, read with AWS credentials, without the API.

Prints a JSON line an entry, each as an item of ``GET /sessions/{sessionId}/audit``, the oldest first. After
the session's end too: then the last is the summary of it. Ends with 0, with 1 when the audit has nothing of
that, with 2 when it could not be run.
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
        read = trail.whole_of_task if options.task else trail.whole
        for entry in read(OPERATOR, options.id):
            print(msgspec.json.encode(audit_answer(entry)).decode())
            printed = True
    except REFUSALS as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not printed:
        print(f"the audit has nothing of that {'task' if options.task else 'session'}", file=sys.stderr)
    return 0 if printed else 1


def connected(*, stage: str, region: str) -> AuditTrail:
    """The use case as the stage's API has it.

    Raises:
        NotDeployedError
    """
    return open_store(read_settings(environment(stage=stage, region=region))).audit


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m ops.audit", parents=[place()], description="The audit of a session, or of a task."
    )
    parser.add_argument("id", help="the sessionId, or taskId, that the store minted")
    parser.add_argument("--task", action="store_true", help="it is a task's, or an approval's")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
