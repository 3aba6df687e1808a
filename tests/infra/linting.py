"""What cfn-lint says of templates."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

IGNORED: Final = {
    "W3005": "CDK writes DependsOn beside references that imply it",
}


def lint(files: Sequence[Path]) -> list[tuple[str, str]]:
    """Each finding's rule and message."""
    cfn_lint = Path(sys.executable).with_name("cfn-lint")
    done = subprocess.run(
        [cfn_lint, "--format", "json", "--ignore-checks", *IGNORED, "--", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    found = [(match["Rule"]["Id"], match["Message"]) for match in json.loads(done.stdout or "[]")]
    assert found or done.returncode == 0, done.stderr
    return found
