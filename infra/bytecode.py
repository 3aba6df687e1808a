"""Bytecode beside the sources of what is deployed.

What Lambda unpacks cannot be written to, so Python would compile it anew at every cold start.
"""

import subprocess
import sys
from functools import cache
from pathlib import Path


@cache
def interpreter(version: str) -> Path | None:
    """This machine's Python of a version, as in ``3.13``: no other makes bytecode that it loads."""
    found = subprocess.run(  # noqa: S603 - our own arguments
        [uv(), "python", "find", "--no-python-downloads", "--no-project", version],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode == 0:
        return Path(found.stdout.strip())
    print(  # noqa: T201 - the synthesis has no other way to say it
        f"Python {version} not found: the functions are deployed without bytecode and start more slowly.",
        file=sys.stderr,
    )
    return None


def compile_all(folder: Path, *, python: Path, runs_at: str) -> None:
    """Compile what lies in ``folder`` and will lie at ``runs_at``.

    The bytecode counts as that of its source without a look at it (PEP 552): in an asset's zip every
    file is of 1980.
    """
    mode = ("--invalidation-mode", "unchecked-hash")
    places = ("-s", str(folder), "-p", runs_at)
    subprocess.run(  # noqa: S603 - our own arguments
        # Isolated: this environment may send bytecode elsewhere.
        [str(python), "-I", "-m", "compileall", "-q", *mode, *places, str(folder)],
        check=True,
    )


def uv() -> str:
    """uv of this environment; make puts it there."""
    return str(Path(sys.executable).with_name("uv"))
