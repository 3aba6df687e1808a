"""``python -m bench.audit``: the stream consumer, compared with the writes that it has to make.

It deploys the app into an emulator of its own and runs the deployed handler in this process, on real stream
records.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.consumer import Measured, become_consumer, consume
from bench.report import publish, table
from local.delivery import delivering
from local.deployment import Deployed, deploy
from local.emulator import ACCOUNT, Emulator, running
from local.loopback import free_port
from local.principals import DELEGATES, provision
from local.signed_http import Api
from local.streams.source import ShardSource, Stream
from local.streams.swept import SweptRecords
from session_store.bootstrap import open_store
from session_store.domain.caller import Caller
from session_store.domain.session import Status
from session_store.domain.state_operations import StateOperations
from session_store.schema import Attribute, session_pk
from session_store.services.context import NewMessage
from session_store.services.new_sessions import NewSession
from session_store.services.tool_calls.record import RecordedCall
from session_store.settings import read_settings
from session_store.store import Store

BATCH: Final = 100
"""Records, as the deployed mapping has it."""

BATCHES: Final = 12
"""The first is a warm-up; the last is not timed, but its units are counted."""

LIFE: Final = 10
"""Records of one session: creation, status, two state changes, four messages, claim and record of a call."""

CHANGES: Final = 20
PATIENCE: Final = 30.0
POLL: Final = 0.01
CALLER: Final = Caller(tenant=f"{ACCOUNT}:user/bench", subject="bench", request_id="bench")
ABOUT: Final = """\
The handler as deployed, in one process, on batches of 100 real stream records, alternating with one plain
`put_item` of boto3 for each of the same audit items. No consumer that writes one item per record can be
faster. Each session here makes ten records: creation, a status change, two state changes, four messages of
1 KB, and a call's claim and record. The lag is from the response to a change over HTTP until its row is in
the audit table, in the stack of `make run`, whose mapping waits a second for more records
(`infra/audit_consumer.py`)."""


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "emulator", port=free_port()) as emulator,
    ):
        deployed = deploy(
            emulator,
            delegates=DELEGATES,
            revocation_endpoint=None,
            say=print,
        )
        become_consumer(emulator, deployed)
        _live(open_store(read_settings(os.environ)), sessions=BATCH * BATCHES // LIFE)
        measured = consume(emulator, _batches(emulator, deployed, Path(folder)))
        lags = _lags(emulator, deployed, Path(folder))
    publish("Audit", command="python -m bench.audit", about=ABOUT, results=_results(measured, lags))


def _results(measured: Measured, lags: Sequence[float]) -> str:
    timed = BATCH * len(measured.handler)
    rows = [
        ("audit records per second, the handler", f"{timed / sum(measured.handler):.0f}"),
        ("items per second, one plain put_item each", f"{timed / sum(measured.plain):.0f}"),
        ("**the handler over plain puts**", f"**{measured.ratio:.2f}**"),
        ("write units per record, mean", f"{statistics.mean(measured.units):.2f}"),
        ("write units per record, maximum", f"{max(measured.units):.0f}"),
        (f"lag, median of {len(lags)}", f"{statistics.median(lags):.2f} s"),
        ("lag, maximum", f"{max(lags):.2f} s"),
    ]
    return table(("", "result"), rows)


def _live(store: Store, *, sessions: int) -> None:
    new = NewSession(
        idle_timeout=3600, max_lifetime=86_400, state={"step": 0}, protocol={}, credential_refs=()
    )
    call = RecordedCall(
        tool_call_id="call",
        tool_name="search",
        input={"q": "x"},
        output={"hits": 3},
        error=None,
        duration_ms=12,
        started_at=None,
    )
    for _ in range(sessions):
        session_id = store.sessions.create(CALLER, new).session_id
        store.sessions.move(CALLER, session_id, Status.ACTIVE)
        for step in (1, 2):
            store.sessions.change_state(CALLER, session_id, StateOperations(set={"step": step}))
        store.context.append(CALLER, session_id, [NewMessage(content="x" * 1000) for _ in range(4)])
        store.recorded_calls.record(CALLER, session_id, call)


def _batches(emulator: Emulator, deployed: Deployed, folder: Path) -> Sequence[Mapping[str, Any]]:
    """Events as Lambda would deliver them."""
    arn = emulator.client("dynamodb").describe_table(TableName=deployed.table_name)["Table"][
        "LatestStreamArn"
    ]
    stream = Stream(client=emulator.client("dynamodbstreams"), arn=arn)
    (shard,) = stream.shards()
    source = ShardSource(
        stream=stream,
        shard_id=shard.shard_id,
        after=None,
        swept=SweptRecords(folder / "swept.jsonl"),
        say=print,
    )
    events = [{"Records": source.read(limit=BATCH).records} for _ in range(BATCHES)]
    assert [len(event["Records"]) for event in events] == [BATCH] * BATCHES
    return events


def _lags(emulator: Emulator, deployed: Deployed, folder: Path) -> Sequence[float]:
    keys = provision(emulator, deployed=deployed, file=folder / "credentials")
    api = Api(deployed.api_url, keys["tenant-a"])
    tables = (deployed.table_name, deployed.audit_table_name)
    audit = _Trail(emulator.client("dynamodb"), deployed.audit_table_name)
    with delivering(emulator, ttl_tables=tables, ttl_attribute=Attribute.TTL.value, say=print):
        session_id = api.call("POST", "/sessions", {}).json["sessionId"]
        audit.wait(session_id, count=1)
        lags = []
        for number in range(CHANGES):
            answer = api.call("PATCH", f"/sessions/{session_id}/state", {"set": {"n": number}})
            assert answer.status == 200, answer.body
            began = time.perf_counter()
            audit.wait(session_id, count=number + 2)
            lags.append(time.perf_counter() - began)
        return lags


@dataclass(frozen=True, slots=True)
class _Trail:
    dynamodb: Any
    table: str

    def wait(self, session_id: str, *, count: int) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = self.dynamodb.query(
                TableName=self.table,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": {"S": session_pk(session_id)}},
                Select="COUNT",
                ConsistentRead=True,
            )
            if found["Count"] >= count:
                return
            time.sleep(POLL)
        raise AssertionError(f"{session_id} had no {count} rows within {PATIENCE:g} s")


if __name__ == "__main__":
    main()
