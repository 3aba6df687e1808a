"""Bytecode, deployed together with the sources.

What Lambda unpacks is read-only, so Python would compile the sources at every cold start.
"""

import subprocess
import sys
from functools import cache
from pathlib import Path


@cache
def interpreter(version: str) -> Path | None:
    """This machine's Python of a version, as in ``3.13``; only the same version writes loadable bytecode."""
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
    """Compile the files in ``folder``, which will be deployed to ``runs_at``.

    Python loads the bytecode without comparing it with its source (PEP 552): in an asset's zip every file
    is dated 1980.
    """
    mode = ("--invalidation-mode", "unchecked-hash")
    places = ("-s", str(folder), "-p", runs_at)
    subprocess.run(  # noqa: S603 - our own arguments
        # Isolated: the environment may redirect bytecode.
        [str(python), "-I", "-m", "compileall", "-q", *mode, *places, str(folder)],
        check=True,
    )


def uv() -> str:
    """The uv in this environment, where make installs it."""
    return str(Path(sys.executable).with_name("uv"))
