"""An invalid setting fails at start, with the name of its variable."""

import pytest

from session_store.errors import ConfigurationError
from session_store.schema import Callers, Env
from session_store.settings import (
    REGION_VARIABLE,
    CleanupSettings,
    Settings,
    WatchSettings,
    read_cleanup_settings,
    read_settings,
    read_watch_settings,
)

ENVIRONMENT = {
    "AWS_REGION": "us-east-1",
    "TABLE_NAME": "sessions",
    "AUDIT_TABLE_NAME": "audit",
    "SESSION_REGIONS": "us-east-1, eu-west-1",
    "SESSION_CALLERS": "jwt",
    "SESSION_DELEGATES": "111122223333:role/a,111122223333:user/b",
    "STATUS_SHARDS": "4",
    "AUDIT_RETENTION_DAYS": "90",
    "GATEWAY_DECODES_PATH": "true",
}
OPTIONAL = {Env.CALLERS, Env.DELEGATES, Env.GATEWAY_DECODES_PATH}


def test_settings_are_read_from_the_environment() -> None:
    assert read_settings(ENVIRONMENT) == Settings(
        table="sessions",
        audit_table="audit",
        region="us-east-1",
        regions=("us-east-1", "eu-west-1"),
        callers=Callers.JWT,
        delegates=frozenset({"111122223333:role/a", "111122223333:user/b"}),
        status_shards=4,
        audit_retention=90 * 86_400,
        gateway_decodes_path=True,
    )


def test_every_variable_is_among_those_tested() -> None:
    assert set(ENVIRONMENT) == {*Env, REGION_VARIABLE}


@pytest.mark.parametrize("name", sorted(set(ENVIRONMENT) - OPTIONAL))
def test_a_missing_variable_is_named(name: str) -> None:
    for environment in (
        {key: value for key, value in ENVIRONMENT.items() if key != name},
        {**ENVIRONMENT, name: ""},
    ):
        with pytest.raises(ConfigurationError, match=rf"^{name} is not set$"):
            read_settings(environment)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_REGION", "mars"),
        ("SESSION_CALLERS", "anyone"),
        ("AWS_REGION", "eu-west-2"),
        ("SESSION_REGIONS", "us-east-1,mars"),
        ("SESSION_REGIONS", "eu-west-1"),
        ("SESSION_REGIONS", " , "),
        ("STATUS_SHARDS", "0"),
        ("STATUS_SHARDS", "65"),
        ("STATUS_SHARDS", "-1"),
        ("STATUS_SHARDS", "4.0"),
        ("STATUS_SHARDS", " 4"),
        ("STATUS_SHARDS", "four"),
        ("AUDIT_RETENTION_DAYS", "0"),
        ("AUDIT_RETENTION_DAYS", "3651"),
        ("AUDIT_RETENTION_DAYS", "1e2"),
        ("GATEWAY_DECODES_PATH", "True"),
        ("GATEWAY_DECODES_PATH", "1"),
        ("GATEWAY_DECODES_PATH", ""),
    ],
)
def test_a_wrong_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        read_settings({**ENVIRONMENT, name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STATUS_SHARDS", "1"),
        ("STATUS_SHARDS", "64"),
        ("AUDIT_RETENTION_DAYS", "1"),
        ("AUDIT_RETENTION_DAYS", "3650"),
    ],
)
def test_the_ends_of_a_range_belong_to_it(name: str, value: str) -> None:
    settings = read_settings({**ENVIRONMENT, name: value})
    assert int(value) in (settings.status_shards, settings.audit_retention // 86_400)


def test_without_the_optional_ones_nobody_is_a_delegate_and_paths_are_encoded() -> None:
    settings = read_settings({key: value for key, value in ENVIRONMENT.items() if key not in OPTIONAL})
    assert (settings.delegates, settings.gateway_decodes_path) == (frozenset(), False)


CLEANUP = {
    "EVENT_BUS_NAME": "events",
    "CREDENTIAL_PREFIX": "session-store/dev",
    "REVOCATION_ENDPOINT": "https://idp.example.com/revoke",
    "REVOCATION_CLIENT_SECRET": "session-store/dev/client",
    "PAYLOAD_BUCKET": "payloads",
}


def test_the_settings_of_the_clean_up_are_read() -> None:
    assert read_cleanup_settings(CLEANUP) == CleanupSettings(
        event_bus="events",
        credential_prefix="session-store/dev",
        revocation_endpoint="https://idp.example.com/revoke",
        revocation_client_secret="session-store/dev/client",
        payload_bucket="payloads",
    )


def test_the_clean_up_needs_a_bus_and_a_prefix_alone() -> None:
    needed = {name: CLEANUP[name] for name in ("EVENT_BUS_NAME", "CREDENTIAL_PREFIX")}
    assert read_cleanup_settings(needed) == CleanupSettings(
        event_bus="events",
        credential_prefix="session-store/dev",
        revocation_endpoint=None,
        revocation_client_secret=None,
        payload_bucket=None,
    )
    for name in needed:
        with pytest.raises(ConfigurationError, match=f"^{name} is not set$"):
            read_cleanup_settings({**needed, name: ""})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("REVOCATION_ENDPOINT", "http://idp.example.com/revoke"),
        ("REVOCATION_ENDPOINT", "http://127.0.0.1:8080/revoke"),
        ("REVOCATION_ENDPOINT", "https://"),
        ("REVOCATION_ENDPOINT", "https://user:password@idp.example.com/"),
        ("REVOCATION_ENDPOINT", "https://idp.example.com/#there"),
        ("REVOCATION_ENDPOINT", "https://idp.example.com:port/"),
        ("REVOCATION_ENDPOINT", "https://[::1/"),
        ("REVOCATION_ENDPOINT", "file:///etc/passwd"),
        ("REVOCATION_ON_LOOPBACK", "yes"),
        ("REVOCATION_CLIENT_SECRET", "another/client"),
        ("REVOCATION_CLIENT_SECRET", "session-store/devil"),
    ],
)
def test_a_wrong_variable_of_the_clean_up_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        read_cleanup_settings({**CLEANUP, name: value})


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:9"])
def test_plain_http_stays_on_this_machine_and_where_it_may(host: str) -> None:
    here = {**CLEANUP, "REVOCATION_ENDPOINT": f"http://{host}/revoke", "REVOCATION_ON_LOOPBACK": "true"}
    assert read_cleanup_settings(here).revocation_endpoint == f"http://{host}/revoke"
    away = {**here, "REVOCATION_ENDPOINT": "http://127.0.0.1.example.com/revoke"}
    with pytest.raises(ConfigurationError, match="REVOCATION_ENDPOINT"):
        read_cleanup_settings(away)


def test_the_settings_of_the_watch_are_read() -> None:
    environment = {"EVENT_BUS_NAME": "events", "EXPIRING_WITHIN_SECONDS": "900"}
    assert read_watch_settings(environment) == WatchSettings(event_bus="events", within=900)
    for value in ("", "59", "86401", "15m"):
        with pytest.raises(ConfigurationError, match="EXPIRING_WITHIN_SECONDS"):
            read_watch_settings({**environment, "EXPIRING_WITHIN_SECONDS": value})
