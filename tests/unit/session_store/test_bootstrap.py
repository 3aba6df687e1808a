"""What the composition root builds, with which timeouts."""

from typing import Any

import pytest

from infra.api.function import TIMEOUT
from session_store.background import open_census, open_cleanup, open_expiry_watch, open_heart
from session_store.bootstrap import open_store
from session_store.deadline import Deadline
from session_store.settings import CleanupSettings, WatchSettings
from session_store.storage.dynamodb.attempts import ATTEMPT_SECONDS, ATTEMPTS, CONNECT_TIMEOUT, READ_TIMEOUT
from session_store.storage.dynamodb.heartbeat_table import HeartbeatTable
from session_store.storage.dynamodb.session_table import SessionTable
from session_store.storage.dynamodb.task_table import TaskTable
from session_store.storage.integrations.aws_clients import dynamodb_client
from session_store.storage.integrations.payload_bucket import PayloadBucket
from session_store.storage.integrations.revocation_endpoint import RevocationEndpoint
from session_store.system import RandomIds, SystemClock
from tests.support.samples import settings

GATEWAY_TIMEOUT = 29


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


def test_the_client_gives_up_within_the_function_and_the_function_within_the_gateway() -> None:
    longest = ATTEMPT_SECONDS * ATTEMPTS
    assert longest < TIMEOUT.to_seconds() < GATEWAY_TIMEOUT


def test_the_client_has_the_timeouts_and_resends_nothing_by_itself() -> None:
    client = dynamodb_client(region="eu-west-1")
    config: Any = client.meta.config  # its options are set at run time
    assert client.meta.region_name == "eu-west-1"
    assert (config.connect_timeout, config.read_timeout) == (CONNECT_TIMEOUT, READ_TIMEOUT)
    assert config.retries["total_max_attempts"] == 1


def test_a_store_is_opened_on_dynamodb_with_the_machines_clock() -> None:
    store = open_store(settings(status_shards=7))
    assert isinstance(store.sessions.storage, SessionTable)
    assert store.sessions.storage.shards == 7
    assert store.sessions.storage.client.attempts.deadline is store.deadline
    assert isinstance(store.sessions.clock, SystemClock)
    assert isinstance(store.sessions.ids, RandomIds)


def cleanup_settings(**changes: Any) -> CleanupSettings:
    values: dict[str, Any] = {
        "event_bus": "events",
        "credential_prefix": "session-store/dev",
        "revocation_endpoint": None,
        "revocation_client_secret": None,
        "payload_bucket": None,
    }
    return CleanupSettings(**{**values, **changes})


def test_a_clean_up_is_opened_with_what_is_configured() -> None:
    plain = open_cleanup(settings(), cleanup_settings())
    assert (plain.payloads, plain.revocations.revoker) == (None, None)
    endpoint = "https://idp.example.com/revoke"
    whole = open_cleanup(
        settings(),
        cleanup_settings(
            payload_bucket="payloads", revocation_endpoint=endpoint, revocation_client_secret="client"
        ),
    )
    assert isinstance(whole.payloads, PayloadBucket)
    assert isinstance(whole.revocations.revoker, RevocationEndpoint)
    assert (whole.revocations.revoker.url, whole.revocations.revoker.client_secret) == (endpoint, "client")
    assert isinstance(whole.sessions, SessionTable)
    assert whole.sessions.client.attempts.deadline is whole.deadline


def test_a_watch_is_opened_on_dynamodb() -> None:
    watching = WatchSettings(event_bus="events", within=900)
    watch, overdue = open_expiry_watch(settings(status_shards=7), watching)
    assert isinstance(overdue.access.storage, TaskTable)
    assert (overdue.access.storage.shards, overdue.access.home.region) == (7, "us-east-1")
    assert overdue.deadline is watch.deadline
    assert isinstance(watch.sessions, SessionTable)
    assert watch.sessions.shards == 7
    assert watch.sessions.client.attempts.deadline is watch.deadline


def test_a_heart_is_opened_on_dynamodb() -> None:
    heart = open_heart(settings(region="eu-west-1", regions=("us-east-1", "eu-west-1")))
    assert isinstance(heart.heartbeats, HeartbeatTable)
    assert heart.heartbeats.client.attempts.deadline is heart.deadline
    assert (heart.region, heart.heartbeats.client.table) == ("eu-west-1", "sessions")


def test_a_census_is_opened_on_dynamodb() -> None:
    census = open_census(settings(status_shards=7))
    assert isinstance(census.sessions, SessionTable)
    assert (census.sessions.shards, census.region) == (7, "us-east-1")
    assert census.sessions.client.attempts.deadline is census.deadline


def test_a_deadline_has_no_limit_until_one_is_set() -> None:
    now = [100.0]
    deadline = Deadline(monotonic=lambda: now[0])
    assert deadline.remaining() == float("inf")
    deadline.expires_in(15)
    now[0] += 4
    assert deadline.remaining() == 11
    deadline.expires_in(15)
    assert deadline.remaining() == 15
