"""``python -m ops.audit``: prints the audit of a session or task, with AWS credentials, without the API.

One JSON line per entry, as the items of ``GET /sessions/{sessionId}/audit``, oldest first; also after the
session's end, whose summary is then the last entry. Exit status: 0 if there are entries, 1 if there are none,
2 on failure.
"""

import argparse
import sys
from collections.abc import Sequence

import msgspec

from ops.deployed import OPERATOR, REFUSALS, environment, location_options
from session_api.audit_answers import audit_answer
from session_store.bootstrap import open_store
from session_store.services.audit_trail import AuditTrail
from session_store.settings import read_settings


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    printed = False
    try:
        trail = open_audit(stage=options.stage, region=options.region)
        read = trail.whole_of_task if options.task else trail.whole
        for entry in read(OPERATOR, options.id):
            print(msgspec.json.encode(audit_answer(entry)).decode())
            printed = True
    except REFUSALS as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not printed:
        print(f"the audit has no entries for this {'task' if options.task else 'session'}", file=sys.stderr)
    return 0 if printed else 1


def open_audit(*, stage: str, region: str) -> AuditTrail:
    """Open the audit trail with the settings of the stage's API.

    Raises:
        NotDeployedError
    """
    return open_store(read_settings(environment(stage=stage, region=region))).audit


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m ops.audit",
        parents=[location_options()],
        description="Print the audit of a session or a task.",
    )
    parser.add_argument("id", help="the sessionId, or with --task the taskId")
    parser.add_argument("--task", action="store_true", help="ID is that of a task or an approval")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
