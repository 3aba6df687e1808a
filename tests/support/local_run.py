"""``make run``'s own process, with a state and ports of its own, and what it says."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from local.access import API_URL, Access
from local.emulator import ROOT
from local.loopback import free_port

LOG: Final = "run.log"
START_SECONDS: Final = 600
STOP_SECONDS: Final = 60
POLL: Final = 0.1


@contextlib.contextmanager
def local_run(state: Path) -> Iterator[Access]:
    """What a stranger finds in the state of a stack that is ready; Ctrl-C ends it with the block."""
    ports = {"PORT": str(free_port()), "AUTH_PORT": str(free_port())}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    with (state / LOG).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "local.run", str(state)],
            cwd=ROOT,
            env={**inherited, **ports, "PYTHONPATH": "lambdas:clients:."},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        _await_ready(process, state)
        yield Access.read(state)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert process.returncode == 0, said(state)


def said(state: Path) -> str:
    return (state / LOG).read_text()


def _await_ready(process: "subprocess.Popen[bytes]", state: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if (state / API_URL).exists() and (state / API_URL).read_text():
            return
        assert process.poll() is None, said(state)
        time.sleep(POLL)
    raise AssertionError(f"not ready within {START_SECONDS} s: {said(state)}")
