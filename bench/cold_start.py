"""``python -m bench.cold_start``: a new process to its first answer, over bare boto3 that asks the same."""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Final

from bench.ground import TABLE, ground
from bench.report import publish, table
from local.credentials import REGION
from session_store.bootstrap import open_store
from session_store.domain.caller import Caller
from session_store.schema import SESSION_SK, BusEnv, CleanupEnv, StreamEnv, WatchEnv, session_pk
from session_store.services.new_sessions import NewSession
from session_store.settings import read_settings
from tests.support.gateway import BACKEND, rest_event

ROOT: Final = Path(__file__).resolve().parent.parent
PAIRS: Final = 15
IMPORT_RUNS: Final = 5
NAMED: Final = 12
"""Packages that the table of imports names; the rest is one row."""

FUNCTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "session_api": ("dynamodb",),
    "audit_consumer": ("dynamodb", "sqs", "s3"),
    "expiry_cleanup": ("dynamodb", "secretsmanager", "events"),
    "expiry_watch": ("dynamodb", "events"),
    "heartbeat": ("dynamodb",),
    "session_census": ("dynamodb",),
}
"""The clients that each function has made once it is loaded."""

IMPORT: Final = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")
CLOCKS: Final = "import time; began = time.process_time(), time.perf_counter()"
TOLD: Final = "print(); print(time.process_time() - began[0], time.perf_counter() - began[1])"
BARE: Final = """
import boto3
clients = [boto3.client(name, region_name={region!r}) for name in {services!r}]
"""
BARE_REQUEST: Final = """
assert clients[0].get_item(TableName={table!r}, Key={key!r}, ConsistentRead=True)["Item"]
"""
OURS: Final = """
import {package}.handler
"""
OUR_REQUEST: Final = """
import json, types
context = types.SimpleNamespace(
    function_name="f", memory_limit_in_mb=1024, invoked_function_arn="a", aws_request_id="r", tenant_id=None,
    get_remaining_time_in_millis=lambda: 15_000,
)
assert session_api.handler.handler(json.loads({event!r}), context)["statusCode"] == 200
"""
ABOUT: Final = """\
New processes in turn: the function imported, its client made and a session read, beside boto3 imported, a
DynamoDB client made and the same item read. CPU time of the process without its interpreter's start:
medians, and the median of the pairs' ratios. Both find their bytecode (that boto3 does in the Lambda
runtime is taken for granted). *Without bytecode*: the function and its layer have none, and are compiled
at every start, since what Lambda unpacks cannot be written to. The other functions are imported, with
their clients, beside boto3 with the same clients. Imports: `-X importtime`, what each package's own
modules take, the least of several runs; the rest of a start is making the client and the request."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds."""

    cpu: float
    wall: float


@dataclass(frozen=True, slots=True)
class Programs:
    """Python programs, run each in a process of its own, with ``cache`` for their bytecode."""

    cache: Path
    compiling: bool = True
    """Whether what is imported leaves bytecode in the cache, as it always reads what is there."""

    def run(self, program: str) -> Taken:
        done = self._done("-c", f"{CLOCKS}\n{program}\n{TOLD}")
        cpu, wall = done.stdout.splitlines()[-1].split()
        return Taken(float(cpu), float(wall))

    def imports(self, program: str) -> Counter[str]:
        """Microseconds that each top-level package's modules took by themselves, at the least."""
        runs = [self._done("-X", "importtime", "-c", program).stderr for _ in range(IMPORT_RUNS)]
        return reduce(and_, map(own_microseconds, runs))

    def _done(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT / 'lambdas'}:{ROOT}",
            "PYTHONPYCACHEPREFIX": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "" if self.compiling else "1",
        }
        return subprocess.run(  # noqa: S603 - our own programs
            [sys.executable, *arguments], env=environment, capture_output=True, text=True, check=True
        )


def own_microseconds(told: str) -> Counter[str]:
    """What ``-X importtime`` told, by top-level package."""
    own: Counter[str] = Counter()
    for microseconds, name in IMPORT.findall(told):
        own[name.partition(".")[0]] += int(microseconds)
    return own


def main(pairs: int = PAIRS, *, packages: Sequence[str] = tuple(FUNCTIONS)) -> None:
    with ground(), tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as bare:
        _name_surroundings()
        warm, cold = Programs(Path(cache)), Programs(Path(bare), compiling=False)
        read, asked = _requests()
        boto3 = bare_program("session_api") + asked
        ours = OURS.format(package="session_api") + read
        # boto3 alone leaves bytecode here: what the function adds has none.
        Programs(cold.cache).run(boto3)
        compared = [
            ("session_api, first answer", compare(warm, ours, warm, boto3, pairs)),
            ("session_api, first answer, without bytecode", compare(cold, ours, warm, boto3, pairs)),
        ]
        for package in packages:
            bare_clients = bare_program(package)
            ours_alone = OURS.format(package=package)
            compared.append((package, compare(warm, ours_alone, warm, bare_clients, -(-pairs // 3))))
        broken_down = breakdown(warm.imports(ours), warm.imports(boto3))
    results = "\n\n".join((ratios(compared), broken_down))
    publish("Cold start", command="python -m bench.cold_start", about=ABOUT, results=results)


def _name_surroundings() -> None:
    """What the functions beside the API are told of; no call is made to it."""
    os.environ.update(
        {
            StreamEnv.AUDIT_DIGESTED.value: "content",
            StreamEnv.CLEANUP_QUEUE_URL.value: "http://127.0.0.1/queue",
            StreamEnv.CLEANUP_DELAY_SECONDS.value: "0",
            StreamEnv.QUARANTINE_BUCKET.value: "bench",
            BusEnv.EVENT_BUS_NAME.value: "bench",
            CleanupEnv.CREDENTIAL_PREFIX.value: "bench",
            WatchEnv.EXPIRING_WITHIN_SECONDS.value: "900",
        }
    )


def _requests() -> tuple[str, str]:
    """A session is read: through the handler, and by boto3."""
    new = NewSession(
        idle_timeout=3600, max_lifetime=86_400, state={"step": 0}, protocol={}, credential_refs=()
    )
    caller = Caller(tenant="111122223333:role/backend", subject="bench")
    session_id = open_store(read_settings(os.environ)).sessions.create(caller, new).session_id
    headers = {"Session-Subject": caller.subject}
    event = rest_event("GET", f"/sessions/{session_id}", headers=headers, principal=BACKEND)
    key = {"pk": {"S": session_pk(session_id)}, "sk": {"S": SESSION_SK}}
    return OUR_REQUEST.format(event=json.dumps(event)), BARE_REQUEST.format(table=TABLE, key=key)


def bare_program(package: str) -> str:
    return BARE.format(region=REGION, services=FUNCTIONS[package])


def compare(
    ours: Programs, program: str, theirs: Programs, bare: str, pairs: int
) -> Sequence[tuple[Taken, Taken]]:
    """Each in turn, after a run of each that warms up."""
    taken = [(ours.run(program), theirs.run(bare)) for _ in range(pairs + 1)]
    return taken[1:]


def ratios(compared: Sequence[tuple[str, Sequence[tuple[Taken, Taken]]]]) -> str:
    heads = ("", "ours, CPU ms", "boto3, CPU ms", "**ratio**", "ratio of wall times")
    return table(heads, [_row(label, pairs) for label, pairs in compared])


def _row(label: str, pairs: Sequence[tuple[Taken, Taken]]) -> Sequence[str]:
    own, bare = (statistics.median(taken.cpu for taken in side) * 1000 for side in zip(*pairs, strict=True))
    cpu = statistics.median(ours.cpu / theirs.cpu for ours, theirs in pairs)
    wall = statistics.median(ours.wall / theirs.wall for ours, theirs in pairs)
    return label, f"{own:.0f}", f"{bare:.0f}", f"**{cpu:.2f}**", f"{wall:.2f}"


def breakdown(ours: Mapping[str, int], bare: Mapping[str, int]) -> str:
    """The packages that take most, each beside what it takes in bare boto3."""
    largest = sorted(ours, key=lambda name: -ours[name])[:NAMED]
    rest = [sum(side.values()) - sum(side.get(name, 0) for name in largest) for side in (ours, bare)]
    rows = [(name, _ms(ours[name]), _ms(bare.get(name, 0))) for name in largest]
    sums = [sum(side.values()) for side in (ours, bare)]
    return table(
        ("import of", "ours, ms", "boto3, ms"),
        [*rows, ("the rest", *map(_ms, rest)), ("**all**", *(f"**{_ms(each)}**" for each in sums))],
    )


def _ms(microseconds: int) -> str:
    return f"{microseconds / 1000:.1f}"


if __name__ == "__main__":
    main()
