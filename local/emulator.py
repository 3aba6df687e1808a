"""The AWS emulator as a child process, which saves its state when it is stopped."""

import contextlib
import fcntl
import http.client
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from botocore.config import Config

from local.clients import client, environment
from local.credentials import REGION, Credentials
from local.loopback import HOST, PortError, is_taken

ROOT: Final = Path(__file__).resolve().parent.parent
EXECUTABLE: Final = ROOT / ".venv-emulator" / "bin" / "ministack"
ACCOUNT: Final = "000000000000"
START_SECONDS: Final = 30
STOP_SECONDS: Final = 30


class EmulatorError(RuntimeError):
    """The emulator cannot be started or has exited unexpectedly; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulator:
    """A running emulator; ``root`` is its account's root user."""

    endpoint: str
    root: Credentials
    state: Path
    process: subprocess.Popen[bytes]

    def client(self, service: str, *, config: Config | None = None) -> Any:  # noqa: ANN401 - boto3 creates the class of each service at run time
        return client(service, endpoint=self.endpoint, credentials=self.root, config=config)

    def api_url(self, api_id: str, *, stage: str) -> str:
        return f"{self.endpoint}/_aws/execute-api/{api_id}/{stage}"

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of AWS tools that call it as root."""
        return environment(endpoint=self.endpoint, credentials=self.root)


@contextlib.contextmanager
def running(state: Path, *, port: int, lock: IO[str] | None = None) -> Iterator[Emulator]:
    """Run an emulator with its data in ``state`` for the time of the block.

    It inherits ``lock``, so ``state`` stays locked while the emulator lives, even if this process dies.

    Raises:
        PortError: the port is in use.
        EmulatorError: the emulator does not start in time.
    """
    if not EXECUTABLE.exists():
        raise EmulatorError(f"{EXECUTABLE.relative_to(ROOT)} is missing: run `make setup`")
    if is_taken(port):
        raise PortError.taken(port, variable="PORT")
    # A new key at each start: an earlier one does not give root access.
    root = Credentials(
        access_key_id=f"LOCALROOT{secrets.token_hex(6).upper()}", secret_access_key=secrets.token_hex(20)
    )
    # An earlier run unpacked its functions here.
    shutil.rmtree(state / "tmp", ignore_errors=True)
    for folder in ("state", "s3", "tmp"):
        (state / folder).mkdir(parents=True, exist_ok=True)
    with (state / "emulator.log").open("wb") as log:
        process = subprocess.Popen(
            [str(EXECUTABLE)],
            env=_environment(state, port=port, root=root),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            # Its own group: Ctrl-C in the terminal reaches us alone, and we stop it in order.
            start_new_session=True,
            pass_fds=() if lock is None else (lock.fileno(),),
        )
        if lock is not None:
            lock.write(f" and its emulator, process {process.pid}")
            lock.flush()
        try:
            emulator = Emulator(endpoint=f"http://{HOST}:{port}", root=root, state=state, process=process)
            _await_answer(emulator, port=port)
            yield emulator
        finally:
            _stop(process)


@contextlib.contextmanager
def owned(state: Path) -> Iterator[IO[str]]:
    """The lock on ``state``, held: two runs would overwrite what the other saves.

    Raises ``EmulatorError`` when another has it, and says which processes do.
    """
    state.mkdir(parents=True, exist_ok=True)
    with (state / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.seek(0)
            raise EmulatorError(f"{state} is in use by another run ({lock.read()})") from error
        lock.truncate(0)
        lock.write(f"process {os.getpid()}")
        lock.flush()
        yield lock


def _environment(state: Path, *, port: int, root: Credentials) -> dict[str, str]:
    """Return only what the emulator needs, since the functions it runs inherit all of it."""
    return {
        "PATH": os.defpath,
        "HOME": str(state),
        "TMPDIR": str(state / "tmp"),
        "LANG": "C.UTF-8",
        "BIND_HOST": HOST,
        "GATEWAY_PORT": str(port),
        "MINISTACK_HOST": HOST,
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "MINISTACK_REGION": REGION,
        "STATE_DIR": str(state / "state"),
        "S3_DATA_DIR": str(state / "s3"),
        "PERSIST_STATE": "1",
        "S3_PERSIST": "1",
        # Verify signatures and evaluate IAM policies, of callers and of the functions' roles.
        "AUTH": "true",
        "AWS_ACCESS_KEY_ID": root.access_key_id,
        "AWS_SECRET_ACCESS_KEY": root.secret_access_key,
        # A burst leaves one process of 50 MB for each parallel call.
        "LAMBDA_WARM_TTL_SECONDS": "60",
        "LOG_LEVEL": "WARNING",
    }


def _await_answer(emulator: Emulator, *, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    log = emulator.state / "emulator.log"
    while time.monotonic() < deadline:
        if emulator.process.poll() is not None:
            raise EmulatorError(f"the emulator exited unexpectedly; see its log, {log}")
        if _is_ready(port):
            return
        time.sleep(0.05)
    raise EmulatorError(f"the emulator did not start within {START_SECONDS} s; see its log, {log}")


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=2)
    try:
        connection.request("GET", "/_ministack/ready")
        return connection.getresponse().status == http.client.OK
    except OSError:
        return False
    finally:
        connection.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop it with SIGTERM, which saves its state; kill it if it does not exit in time."""
    process.terminate()
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    # The functions' processes, in the emulator's group, would outlive it for a while.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
