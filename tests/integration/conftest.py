"""Storage to test against: DynamoDB as the emulator serves it, and memory."""

import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from local.emulator import Emulator
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.ports import Storage
from session_store.settings import Settings
from session_store.storage.integrations.aws_clients import aws_session
from session_store.storage.memory.storage import memory_storage
from session_store.store import Store, store_on
from tests.support.faults import Spending, watch_spending
from tests.support.patient import patient_dynamodb
from tests.support.samples import settings
from tests.support.tables import create_tables
from tests.support.workers import Worker
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


@pytest.fixture(scope="session")
def tables(emulator: Emulator) -> Settings:
    """The settings, once the tables that they name exist."""
    name = secrets.token_hex(4)
    named = settings(table=f"contract-{name}", audit_table=f"contract-audit-{name}")
    client: DynamoDBClient = emulator.client("dynamodb")
    create_tables(client, table=named.table, audit_table=named.audit_table)
    return named


@pytest.fixture
def dynamodb(emulator: Emulator, monkeypatch: pytest.MonkeyPatch) -> "DynamoDBClient":
    """The product's client, a test's own, so that what the test hooks into it goes with it."""
    for name, value in emulator.environment.items():
        monkeypatch.setenv(name, value)
    aws_session.cache_clear()
    return patient_dynamodb()


@pytest.fixture
def on_dynamodb(dynamodb: "DynamoDBClient", tables: Settings) -> Storage:
    return dynamodb_storage(tables, dynamodb, Deadline())


@pytest.fixture
def bystander(emulator: Emulator, tables: Settings) -> Storage:
    """The same tables through another client, which has no bad day."""
    return dynamodb_storage(tables, emulator.client("dynamodb"), Deadline())


@pytest.fixture(params=["dynamodb", "memory"])
def storage(request: pytest.FixtureRequest) -> Iterator[Storage]:
    """Each implementation in turn: the contract is one."""
    if request.param == "memory":
        yield memory_storage()
    else:
        yield request.getfixturevalue("on_dynamodb")


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture
def store(on_dynamodb: Storage, tables: Settings, clock: SettableClock) -> Store:
    return store_on(on_dynamodb, tables, clock=clock)


@pytest.fixture
def spending(dynamodb: "DynamoDBClient") -> Spending:
    return watch_spending(dynamodb)


@pytest.fixture
def worker(dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock) -> Worker:
    return Worker(dynamodb, tables, clock)


@pytest.fixture
def other(dynamodb: "DynamoDBClient", tables: Settings, clock: SettableClock) -> Worker:
    """Nothing ever happens to this one. It knows where the emulator is from ``dynamodb``."""
    del dynamodb
    return Worker(patient_dynamodb(), tables, clock)
