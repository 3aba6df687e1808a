"""``python -m ops.audit``: the whole audit of a session or task, read with AWS credentials, without the API.

Prints one JSON line per entry, in the form of ``GET /sessions/{sessionId}/audit``, oldest first. It works
after the session's end too: the last entry is then its summary. Exit status: 0; 1 when the audit has no
entries for the id; 2 when the command could not run.
"""

import argparse
import sys
from collections.abc import Sequence

import msgspec

from ops.deployed import OPERATOR, REFUSALS, environment, place
from session_api.audit_answers import audit_answer
from session_store.bootstrap import open_store
from session_store.services.stream_consumer import AuditTrail
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
        print(f"no audit entries for that {'task' if options.task else 'session'}", file=sys.stderr)
    return 0 if printed else 1


def connected(*, stage: str, region: str) -> AuditTrail:
    """The use case, configured as in the stage's API.

    Raises:
        NotDeployedError
    """
    return open_store(read_settings(environment(stage=stage, region=region))).audit


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m ops.audit",
        parents=[place()],
        description="Print the audit trail of a session or a task, one JSON line per entry.",
    )
    parser.add_argument("id", help="the sessionId, or with --task the taskId")
    parser.add_argument("--task", action="store_true", help="the id is that of a task or an approval")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
