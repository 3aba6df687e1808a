"""Callers of the deployed stack, and its tables seen raw."""

from collections.abc import Iterator

import pytest

from session_store_client import Client
from tests.support.calls import Acting, new_subject
from tests.support.client_calls import client_of
from tests.support.emulator import LiveStack
from tests.support.idle import IdleSession
from tests.support.lossy_proxy import LossyProxy, lossy_proxy
from tests.support.raw_table import RawTable, audit_table, session_table


@pytest.fixture
def api(deployed: LiveStack) -> Acting:
    """The backend ``tenant-a``, for an end user that each test has to itself."""
    return Acting(deployed.api("tenant-a"), new_subject())


@pytest.fixture(scope="session")
def raw(deployed: LiveStack) -> RawTable:
    return session_table(deployed)


@pytest.fixture(scope="session")
def raw_audit(deployed: LiveStack) -> RawTable:
    return audit_table(deployed)


@pytest.fixture(scope="session")
def proxy(deployed: LiveStack) -> Iterator[LossyProxy]:
    with lossy_proxy(deployed.deployed.api_url) as proxy:
        yield proxy


@pytest.fixture
def lossy(deployed: LiveStack, proxy: LossyProxy) -> Iterator[Client]:
    """A client behind the proxy that loses responses."""
    proxy.forwarded.clear()
    with client_of(deployed, "tenant-a", url=proxy.url) as client:
        yield client


@pytest.fixture(scope="session", autouse=True)
def idle(deployed: LiveStack) -> Iterator[IdleSession]:
    """Begun before the first test, so that none waits for it but the one that asks how it went."""
    session = IdleSession.start(Acting(deployed.api("tenant-a"), new_subject()))
    yield session
    session.stop()
