"""Results as Markdown: printed, and written to ``docs/benchmarks.md``, one section per benchmark."""

import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
TITLE: Final = """\
# Benchmarks

Compare the ratios, each measured within one run. The absolute figures next to them are those of one machine.
"""


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---"] * len(heads)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, rule, *rows))


def publish(heading: str, *, command: str, about: str, results: str, file: Path = FILE) -> None:
    """Print ``results``, and replace the file's section with this heading."""
    print(results)
    machine = f"{os.cpu_count()} CPUs, Python {platform.python_version()}"
    made = f"`{command}`, {datetime.now(UTC):%Y-%m-%d}, {machine}"
    section = f"## {heading}\n\n{made}\n\n{about}\n\n{results}\n"
    text = file.read_text() if file.exists() else TITLE
    earlier = re.compile(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    kept = earlier.sub("", text).rstrip("\n")
    file.write_text(f"{kept}\n\n{section}")
