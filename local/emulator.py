"""The AWS emulator as a child process: started, awaited, stopped with its state saved."""

import contextlib
import fcntl
import http.client
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import boto3
import botocore.session
from botocore.config import Config

ROOT: Final = Path(__file__).resolve().parent.parent
EXECUTABLE: Final = ROOT / ".venv-emulator" / "bin" / "ministack"
HOST: Final = "127.0.0.1"
REGION: Final = "us-east-1"
ACCOUNT: Final = "000000000000"
START_SECONDS: Final = 30
STOP_SECONDS: Final = 30


class EmulatorError(RuntimeError):
    """The emulator cannot be started, or ended by itself; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    access_key_id: str
    secret_access_key: str
    region: str = REGION


@dataclass(frozen=True, slots=True, kw_only=True)
class Emulator:
    """A running emulator; ``root`` may do everything in its account."""

    endpoint: str
    root: Credentials
    state: Path
    process: subprocess.Popen[bytes]

    def client(self, service: str, *, config: Config | None = None) -> Any:  # noqa: ANN401 - boto3 makes the class of each service at run time
        return client_of(service, endpoint=self.endpoint, credentials=self.root, config=config)

    def api_url(self, api_id: str, *, stage: str) -> str:
        return f"{self.endpoint}/_aws/execute-api/{api_id}/{stage}"

    @property
    def environment(self) -> dict[str, str]:
        """What makes an AWS SDK or the CDK CLI talk to this emulator as root."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.root.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.root.secret_access_key,
            "AWS_REGION": self.root.region,
            "AWS_DEFAULT_REGION": self.root.region,
            # Nothing of this machine's own AWS configuration is read.
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "NO_PROXY": HOST,
            "no_proxy": HOST,
        }


@contextlib.contextmanager
def running(state: Path, *, port: int, lock: IO[str] | None = None) -> Iterator[Emulator]:
    """An emulator whose data lie in ``state``; stopped, its state saved, when the block ends.

    It inherits ``lock``, so that ``state`` stays owned for as long as the emulator lives, whatever
    becomes of this process.

    Raises ``EmulatorError`` when the port is taken or the process does not answer in time.
    """
    if not EXECUTABLE.exists():
        raise EmulatorError(f"{EXECUTABLE.relative_to(ROOT)} is missing: run `make setup`")
    if is_taken(port):
        raise EmulatorError(
            f"port {port} is taken: stop what listens there, or choose another with PORT=<port>"
        )
    # A fresh key each time: nothing that learned an earlier one can act as root here.
    root = Credentials(
        access_key_id=f"LOCALROOT{secrets.token_hex(6).upper()}", secret_access_key=secrets.token_hex(20)
    )
    # What an earlier run unpacked its functions into.
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
            raise EmulatorError(f"{state} is in use by another run: {lock.read()}") from error
        lock.truncate(0)
        lock.write(f"process {os.getpid()}")
        lock.flush()
        yield lock


def client_of(service: str, *, endpoint: str, credentials: Credentials, config: Config | None = None) -> Any:  # noqa: ANN401 - boto3 makes the class of each service at run time
    return _clients()(
        service,
        endpoint_url=endpoint,
        region_name=credentials.region,
        aws_access_key_id=credentials.access_key_id,
        aws_secret_access_key=credentials.secret_access_key,
        config=config,
    )


def _clients() -> Callable[..., Any]:
    """Makes the client of any service, and reads none of this machine's own AWS configuration."""
    session = botocore.session.Session(
        session_vars={
            # Key in a configuration file, environment variable, value, conversion.
            "profile": (None, None, None, None),
            "config_file": (None, None, os.devnull, None),
            "credentials_file": (None, None, os.devnull, None),
        }
    )
    make: Callable[..., Any] = boto3.Session(botocore_session=session).client
    return make


def is_taken(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _environment(state: Path, *, port: int, root: Credentials) -> dict[str, str]:
    """Only what it needs: the functions it runs inherit all of it."""
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
        # Signatures are verified and IAM policies evaluated, for callers and for the functions' roles.
        "AUTH": "true",
        "AWS_ACCESS_KEY_ID": root.access_key_id,
        "AWS_SECRET_ACCESS_KEY": root.secret_access_key,
        # A burst leaves one process a parallel call behind, 50 MB each.
        "LAMBDA_WARM_TTL_SECONDS": "60",
        "LOG_LEVEL": "WARNING",
    }


def _await_answer(emulator: Emulator, *, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    log = emulator.state / "emulator.log"
    while time.monotonic() < deadline:
        if emulator.process.poll() is not None:
            raise EmulatorError(f"the emulator ended by itself; its log is {log}")
        if _is_ready(port):
            return
        time.sleep(0.05)
    raise EmulatorError(f"the emulator did not answer within {START_SECONDS} s; its log is {log}")


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
    """SIGTERM lets it save its state; it is killed only when it does not end in time."""
    process.terminate()
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    # The functions' processes, of the emulator's own group, notice its end only after a while.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
