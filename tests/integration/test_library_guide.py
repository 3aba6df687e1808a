"""What ``docs/library.md`` shows runs as it stands, also when a worker is killed in the middle of it."""

import asyncio
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra import names
from local.emulator import Emulator
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.page import PageRequest
from session_store.errors import UnreconciledError, WorkFailedError
from session_store.settings import Settings
from session_store.store import Store, store_on
from tests.support.crowd import at_once
from tests.support.payments import DeclinedError, Payments
from tests.support.samples import ALICE
from tests.support.work import CALL, once
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "library.md").read_text()
SESSION, ONCE, AWAITED = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
PAGE: PageRequest[Any] = PageRequest(limit=10)
LEASE_AND_MARGIN = 34
WORKER = """
import sys
from pathlib import Path
from session_store.bootstrap import open_store
from tests.integration.test_library_guide import functions
from tests.support.payments import DeadlyPayments
from tests.support.samples import ALICE, settings
table, audit_table, session_id, books = sys.argv[1:]
store = open_store(settings(table=table, audit_table=audit_table))
functions(DeadlyPayments(books=Path(books)))["charge"](store, ALICE, session_id, 7, 1990)
"""


def functions(payments: Payments) -> Mapping[str, Any]:
    """Those of the guide."""

    class Awaited:
        async def charge(self, cents: int, *, idempotency_key: str) -> object:
            return payments.charge(cents, idempotency_key=idempotency_key)

    named: dict[str, Any] = {
        "payments": payments,
        "payments_awaited": Awaited(),
        "DeclinedError": DeclinedError,
    }
    exec(compile(ONCE + AWAITED, "docs/library.md", "exec"), named)  # noqa: S102 - the guide is this project's own
    return named


@pytest.mark.usefixtures("dynamodb")
def test_the_example_of_the_guide_runs(tables: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    example = SESSION
    for named, there in (
        (names.audit_table("prod"), tables.audit_table),
        (names.session_table("prod"), tables.table),
    ):
        assert f'"{named}"' in example
        example = example.replace(f'"{named}"', f'"{there}"')
    exec(compile(example, "docs/library.md", "exec"), {})  # noqa: S102 - the guide is this project's own
    assert capsys.readouterr().out == "somebody was faster: 3\ngone\n"


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock(time.time_ns() // 1_000_000)


@pytest.fixture
def store(dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock) -> Store:
    return store_on(dynamodb_storage(tables, dynamodb, Deadline()), tables, clock=clock)


@pytest.fixture
def session_id(store: Store) -> str:
    return once(store, CALL).session_id


@pytest.fixture
def payments(tmp_path: Path) -> Payments:
    return Payments(books=tmp_path / "books.jsonl")


def test_what_many_ask_for_at_once_is_charged_once(store: Store, session_id: str, payments: Payments) -> None:
    charge = functions(payments)["charge"]
    receipts = at_once(8, lambda _: charge(store, ALICE, session_id, 7, 1990))
    assert receipts == payments.charges() * 8
    assert len(payments.charges()) == 1
    assert store.sessions.get(ALICE, session_id).state["charges"] == 1
    (message,) = store.context.page(ALICE, session_id, PAGE).items
    assert message.content == {"text": "Paid."}


def test_what_is_awaited_is_charged_once(store: Store, session_id: str, payments: Payments) -> None:
    charge = functions(payments)["charge_awaited"]
    receipts = [asyncio.run(charge(store, ALICE, session_id, 7, 1990)) for _ in range(2)]
    assert receipts == payments.charges() * 2


def test_a_declined_charge_has_failed_for_good(store: Store, session_id: str, payments: Payments) -> None:
    charge = functions(payments)["charge"]
    with pytest.raises(DeclinedError):
        charge(store, ALICE, session_id, 7, -1)
    with pytest.raises(WorkFailedError) as raised:
        charge(store, ALICE, session_id, 7, -1)
    assert raised.value.error == {"type": "DeclinedError"}


def test_a_worker_killed_after_the_charge_is_followed_by_one_that_does_not_charge(
    store: Store,
    session_id: str,
    payments: Payments,
    tables: Settings,
    emulator: Emulator,
    clock: SettableClock,
) -> None:
    arguments = [tables.table, tables.audit_table, session_id, str(payments.books)]
    killed = subprocess.run(
        [sys.executable, "-c", WORKER, *arguments],
        env={**emulator.environment, "PYTHONPATH": "lambdas:clients:."},
        cwd=ROOT,
        check=False,
        timeout=300,
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(payments.charges()) == 1
    after = functions(payments)
    (running,) = store.recovery.find(ALICE, session_id).in_flight
    assert running.tool_call_id == "charge-7"
    clock.pass_(LEASE_AND_MARGIN + 60)
    with pytest.raises(UnreconciledError):
        after["charge"](store, ALICE, session_id, 7, 1990)
    after["take_over"](store, ALICE, session_id)
    assert after["charge"](store, ALICE, session_id, 7, 1990) == payments.charges()[0]
    assert len(payments.charges()) == 1


def test_a_worker_killed_before_the_charge_is_followed_by_one_that_charges(
    store: Store, session_id: str, payments: Payments, clock: SettableClock, tmp_path: Path
) -> None:
    class DeadError(BaseException):
        pass

    class Unreached(Payments):
        def charge(self, cents: int, *, idempotency_key: str) -> dict[str, object]:
            del cents, idempotency_key
            raise DeadError

    with pytest.raises(DeadError):
        functions(Unreached(books=tmp_path / "none"))["charge"](store, ALICE, session_id, 7, 1990)
    clock.pass_(LEASE_AND_MARGIN)
    after = functions(payments)
    after["take_over"](store, ALICE, session_id)
    assert after["charge"](store, ALICE, session_id, 7, 1990) == payments.charges()[0]
    assert len(payments.charges()) == 1
