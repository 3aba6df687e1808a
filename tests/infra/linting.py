"""What cfn-lint says of templates, in this process: starting it anew would take longer than its work."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from cfnlint.config import ConfigMixIn  # type: ignore[import-untyped] # it has no types
from cfnlint.runner import Runner  # type: ignore[import-untyped] # likewise

IGNORED: Final = {
    "W3005": "CDK writes DependsOn beside references that imply it",
}


def lint(files: Iterable[Path]) -> list[tuple[str, str]]:
    """Each finding's rule and message."""
    config = ConfigMixIn(cli_args=[], templates=[str(file) for file in files], ignore_checks=list(IGNORED))
    return [(match.rule.id, match.message) for match in Runner(config).run()]
