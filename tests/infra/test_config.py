"""The configuration names what is wrong with it."""

import pytest
from aws_cdk import App

from infra.config import Config, Encryption, Target
from infra.context import ConfigError


def read(**context: object) -> Config:
    return Config.from_context(App(context=context).node)


def test_nothing_set_is_one_region_in_the_cloud_that_goes_with_its_stack() -> None:
    config = read()
    assert config == Config(
        stage="dev",
        regions=("us-east-1",),
        account=None,
        retain=False,
        encryption=Encryption.AWS_OWNED,
        delegates=(),
        status_shards=4,
        audit_retention_days=90,
        log_retention_days=30,
        throttling_rate=500,
        throttling_burst=1000,
        audit_digested=("content", "input", "output", "error"),
        cleanup_delay_seconds=60,
        expiring_within_seconds=900,
        credential_prefix="session-store/dev",
        revocation_endpoint=None,
        revocation_client_secret=None,
        target=Target.CLOUD,
    )


def test_production_is_retained_unless_told_otherwise() -> None:
    assert read(stage="prod").retain
    assert not read(stage="prod", retain="false").retain


def test_the_first_region_is_the_primary() -> None:
    config = read(regions=["eu-west-1", "us-east-1"])
    assert (config.primary, config.replicas) == ("eu-west-1", ("us-east-1",))


def test_a_list_may_be_text_or_json() -> None:
    assert read(regions="eu-west-1, us-east-1") == read(regions=["eu-west-1", "us-east-1"])


def test_numbers_may_be_text_or_json() -> None:
    assert read(statusShards="8").status_shards == read(statusShards=8).status_shards == 8


def test_a_delegate_may_be_anyone() -> None:
    assert read(delegates="*").delegates == ("*",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stage", "Prod"),
        ("stage", ""),
        ("stage", "a" * 21),
        ("regions", ""),
        ("regions", []),
        ("regions", "us-east-1,us-east-1"),
        ("regions", "mars-1"),
        ("regions", 5),
        ("account", "1234"),
        ("retain", "yes"),
        ("encryption", "customer"),
        ("delegates", "tenant-a"),
        ("delegates", "111122223333:user/"),
        ("delegates", {"a": "b"}),
        ("statusShards", 0),
        ("statusShards", 65),
        ("statusShards", "four"),
        ("statusShards", 1.5),
        ("statusShards", True),
        ("auditRetentionDays", -1),
        ("logRetentionDays", 13),
        ("throttlingRate", 0),
        ("throttlingBurst", "a lot"),
        ("target", "laptop"),
        ("expiringWithinSeconds", 59),
        ("expiringWithinSeconds", 86_401),
        ("credentialPrefix", "/leading"),
        ("credentialPrefix", "trailing/"),
        ("credentialPrefix", "a" * 129),
        ("credentialPrefix", "a b"),
        ("credentialPrefix", "a*"),
        ("revocationEndpoint", "http://idp.example.com/revoke"),
        ("revocationEndpoint", "http://127.0.0.1:8080/revoke"),
        ("revocationEndpoint", "https://user@idp.example.com/revoke"),
        ("revocationEndpoint", "https://idp.example.com/revoke#now"),
        ("revocationEndpoint", "ftp://idp.example.com/"),
        ("revocationClientSecret", "/other"),
    ],
)
def test_a_bad_value_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"context '{name}' must be ") as caught:
        read(**{name: value})
    assert repr(value).strip("'") in str(caught.value)


@pytest.mark.parametrize("url", ["https://idp.example.com/oauth2/revoke?tenant=a", "https://idp:8443"])
def test_tokens_are_revoked_by_tls(url: str) -> None:
    assert read(revocationEndpoint=url).revocation_endpoint == url


def test_only_the_local_stack_revokes_on_loopback() -> None:
    url = "http://127.0.0.1:8080/revoke"
    assert read(revocationEndpoint=url, target="local").revocation_endpoint == url
    with pytest.raises(ConfigError, match="revocationEndpoint"):
        read(revocationEndpoint="http://idp.example.com/revoke", target="local")
