"""``python -m bench.latency``: a request in process, over the same boto3 calls alone."""

import contextlib
import copy
import importlib
import io
import json
import statistics
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from botocore import xform_name

from bench.ground import AUDIT_TABLE, TABLE, Context, Ground, ground
from bench.report import publish, table
from bench.workload import (
    ACTIVATE,
    CHECKPOINT,
    CHECKPOINT_READS,
    CREATE,
    DELETE,
    READS,
    TOOL_CALLS,
    WRITES,
    Request,
    with_fence,
)
from session_api.requests import IDEMPOTENCY_KEY
from tests.support.gateway import rest_event
from tests.support.tables import create_tables

ROUNDS: Final = 60
WARM: Final = 10
ELSEWHERE: Final[Mapping[str, str]] = {TABLE: "twin-sessions", AUDIT_TABLE: "twin-audit"}
"""The tables of the bare calls, with the same items, so that the same conditions hold."""

ABOUT: Final = f"""\
The API's handler, from the gateway's event to its response, alternating with the DynamoDB calls that it made,
repeated by a plain boto3 client on twin tables with the same content: {ROUNDS} pairs each, medians of the
pairs' ratios. CPU time is that of this process. Wall time includes the emulator on both sides. Reads find
{TOOL_CALLS} tool calls and 20 messages."""


@dataclass(frozen=True, slots=True)
class Call:
    """One DynamoDB call."""

    operation: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds."""

    cpu: float
    wall: float


@dataclass(slots=True)
class Twins:
    """The function, and bare calls that repeat what it did."""

    where: Ground
    calls: list[Call] = field(default_factory=list)
    function: Any = field(init=False)
    log: io.StringIO = field(default_factory=io.StringIO)

    def __post_init__(self) -> None:
        # The logger keeps the standard output that it finds when it is created.
        with contextlib.redirect_stdout(self.log):
            self.function = importlib.import_module("session_api.handler")
        client = self.function.store.sessions.storage.client.dynamodb
        client.meta.events.register("provide-client-params.dynamodb", self._note)
        create_tables(self.where.plain, table=ELSEWHERE[TABLE], audit_table=ELSEWHERE[AUDIT_TABLE])

    def _note(self, params: Mapping[str, Any], model: Any, **_: Any) -> None:  # noqa: ANN401 - botocore's own
        self.calls.append(Call(model.name, params))

    def request(self, request: Request, *, session_id: str = "", number: int = 0) -> tuple[Any, Taken, Taken]:
        """The answer, and the times of the handler and of the bare calls."""
        body = request.body
        if request.begun is not None:
            held, _, _ = self.request(request.begun, session_id=session_id, number=number)
            body = with_fence(request, json.loads(held["body"])["fence"])
        path = _numbered(request.path, number).format(id=session_id)
        target, _, query = path.partition("?")
        # An idempotency key is claimed once, like a call's id.
        headers = {"Session-Subject": "alice", **request.headers}
        if IDEMPOTENCY_KEY in headers:
            headers[IDEMPOTENCY_KEY] += f"-{number}"
        parameters = dict(part.split("=") for part in query.split("&") if part)
        body = json.loads(_numbered(json.dumps(body), number))
        event = rest_event(request.method, target, body=body, headers=headers, query=parameters)
        context = Context("session_api")
        self.calls.clear()
        with contextlib.redirect_stdout(self.log):
            answer, handled = timed(lambda: self.function.handler(event, context))
        assert answer["statusCode"] < 300, answer
        again = [(xform_name(call.operation), elsewhere(call.params)) for call in self.calls]
        _, bare = timed(lambda: [getattr(self.where.plain, name)(**params) for name, params in again])
        return answer, handled, bare


def _numbered(text: str, number: int) -> str:
    return text.replace("call-0", f"call-{number}")


def timed(work: Callable[[], Any]) -> tuple[Any, Taken]:
    cpu, wall = time.process_time(), time.perf_counter()
    done = work()
    return done, Taken(time.process_time() - cpu, time.perf_counter() - wall)


def elsewhere(params: Mapping[str, Any]) -> dict[str, Any]:
    """The same call on the twin tables; with a new transaction token, since one is for one request only."""
    moved = _moved(copy.deepcopy(params))
    if "ClientRequestToken" in moved:
        moved["ClientRequestToken"] = str(uuid.uuid4())
    return moved  # type: ignore[no-any-return] # as deep as a call's parameters are


def _moved(value: Any) -> Any:  # noqa: ANN401 - as deep as a call's parameters are
    if isinstance(value, list):
        return [_moved(each) for each in value]
    if not isinstance(value, dict):
        return value
    named = {name: _moved(each) for name, each in value.items()}
    if "TableName" in named:
        named["TableName"] = ELSEWHERE[named["TableName"]]
    if "RequestItems" in named:
        named["RequestItems"] = {ELSEWHERE[name]: each for name, each in named["RequestItems"].items()}
    return named


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    pairs: Sequence[tuple[Taken, Taken]]

    def ratio(self, clock: Callable[[Taken], float]) -> float:
        return statistics.median(clock(ours) / clock(bare) for ours, bare in self.pairs)


def main(rounds: int = ROUNDS) -> None:
    with ground() as where:
        found = list(rows(Twins(where), rounds))
    publish("Time in process", command="python -m bench.latency", about=ABOUT, results=shown(found))


def rows(twins: Twins, rounds: int) -> Iterator[Row]:
    yield Row(CREATE.label, _repeated(twins, CREATE, rounds))
    session_id = _opened(twins)
    for request in WRITES:
        if request is ACTIVATE:
            yield Row(request.label, _of_new_sessions(twins, request, rounds))
        else:
            yield Row(request.label, _repeated(twins, request, rounds, session_id=session_id))
    session_id = _opened(twins)
    for request in WRITES:
        for number in range(
            {"append_messages": 10, "record_tool_call": TOOL_CALLS}.get(request.operation, 0)
        ):
            twins.request(request, session_id=session_id, number=number)
    twins.request(CHECKPOINT, session_id=session_id)
    for request in (*READS, *CHECKPOINT_READS):
        if request.operation != "get_health":
            yield Row(request.label, _repeated(twins, request, rounds, session_id=session_id))
    yield Row(DELETE.label, _of_new_sessions(twins, DELETE, rounds))


def _opened(twins: Twins) -> str:
    answer, _, _ = twins.request(CREATE)
    return str(answer["multiValueHeaders"]["Location"][0].removeprefix("sessions/"))


def _of_new_sessions(twins: Twins, request: Request, rounds: int) -> Sequence[tuple[Taken, Taken]]:
    """Operations that a session allows only once."""
    return _pairs([twins.request(request, session_id=_opened(twins)) for _ in range(WARM + rounds)])


def _repeated(
    twins: Twins, request: Request, rounds: int, *, session_id: str = ""
) -> Sequence[tuple[Taken, Taken]]:
    # A second begin or record of the same call would be a replay, as with an idempotency key.
    once = request.method != "GET"
    return _pairs(
        [
            twins.request(request, session_id=session_id, number=number if once else 0)
            for number in range(WARM + rounds)
        ]
    )


def _pairs(done: Sequence[tuple[Any, Taken, Taken]]) -> Sequence[tuple[Taken, Taken]]:
    return [(ours, bare) for _, ours, bare in done[WARM:]]


def shown(found: Sequence[Row]) -> str:
    heads = ("", "handler, CPU ms", "bare calls, CPU ms", "**ratio of CPU**", "ratio of wall times")
    cells = [_cells(row) for row in found]
    middle = statistics.median(row.ratio(_cpu) for row in found)
    return table(heads, [*cells, ("median of the operations", "", "", f"**{middle:.2f}**", "")])


def _cells(row: Row) -> Sequence[str]:
    ours, bare = (
        statistics.median(taken.cpu for taken in side) * 1000 for side in zip(*row.pairs, strict=True)
    )
    return row.label, f"{ours:.2f}", f"{bare:.2f}", f"**{row.ratio(_cpu):.2f}**", f"{row.ratio(_wall):.2f}"


def _cpu(taken: Taken) -> float:
    return taken.cpu


def _wall(taken: Taken) -> float:
    return taken.wall


if __name__ == "__main__":
    main()
