"""The configuration names what is wrong with it."""

import os
import subprocess
import sys

import pytest
from aws_cdk import App, region_info

from infra.config import Config
from infra.config_values import MOST_REGIONS, Profile, Target
from infra.configuration_page import page
from infra.context import ConfigError
from tests.infra.conftest import ROOT


def read(**context: object) -> Config:
    return Config.from_context(App(context=context).node)


def test_nothing_set_is_one_region_in_the_cloud_that_goes_with_its_stack() -> None:
    config = read()
    assert (config.stage, config.profile, config.target) == ("dev", Profile.DEV, Target.CLOUD)
    assert (config.regions, config.account, config.credential_prefix) == (
        ("us-east-1",),
        None,
        "session-store/dev",
    )
    assert [config.retain, config.web_acl, config.alarm_topic, config.dax_nodes] == [False, False, False, 0]


def test_production_is_kept_guarded_and_watched() -> None:
    config = read(stage="prod")
    assert config.profile is Profile.PROD
    assert [config.retain, config.web_acl, config.alarm_topic, config.route_metrics] == [True] * 4


def test_another_stage_may_have_the_profile_of_production() -> None:
    config = read(stage="live", profile="prod", webAcl=False)
    assert [config.stage, config.retain, config.web_acl] == ["live", True, False]


@pytest.mark.parametrize(
    ("context", "named"),
    [
        ({"webACL": True}, "'webAcl'"),
        ({"region": "eu-west-1"}, "'regions'"),
        ({"colour": "red"}, "one of stage, profile, "),
    ],
)
def test_a_name_that_no_option_has_is_refused_with_the_nearest(
    context: dict[str, object], named: str
) -> None:
    (name,) = context
    with pytest.raises(ConfigError, match=f"context '{name}' must be .*{named}"):
        read(**context)


def test_what_cdk_and_its_command_look_up_is_no_option() -> None:
    foreign = {
        "aws:cdk:bundling-stacks": [],
        "@aws-cdk/core:x": True,
        "availability-zones:account=1:region=a": [],
    }
    assert read(**foreign) == read()


def test_a_cache_and_several_regions_need_a_way_out_of_the_subnets() -> None:
    several = {"daxNodes": 3, "regions": "us-east-1,eu-west-1"}
    with pytest.raises(ConfigError, match=r"context 'egress' must be .* nat where"):
        read(**several)
    assert read(**several, egress="nat").dax_nodes == read(daxNodes=3).dax_nodes == 3


@pytest.mark.parametrize(
    ("schedule", "days", "enough"), [("daily", 1, 2), ("weekly", 7, 8), ("monthly", 31, 32)]
)
def test_a_row_of_the_audit_lives_until_the_next_export(schedule: str, days: int, enough: int) -> None:
    with pytest.raises(ConfigError, match=r"context 'auditExport' must be .* auditRetentionDays"):
        read(auditExport=schedule, auditRetentionDays=days)
    assert read(auditExport=schedule, auditRetentionDays=enough).audit_export == schedule
    assert read(auditRetentionDays=days).audit_export == "none"


def test_addresses_without_a_topic_would_be_told_nothing() -> None:
    with pytest.raises(ConfigError, match="context 'alarmEmails'"):
        read(alarmEmails="ops@example.com")
    assert read(alarmEmails="ops@example.com", alarmTopic=True).alarm_emails == ("ops@example.com",)


def test_the_page_of_options_is_written_from_them() -> None:
    committed = (ROOT / "docs" / "configuration.md").read_text()
    assert committed == page(Config), "make configuration writes it"


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
        ("stage", "audit-x"),
        ("regions", "us-moon-1"),
        ("regions", "us-east-9"),
        ("account", "\uff11" * 12),
        ("daxNodes", "\u0663"),
        ("stage", ""),
        ("stage", "a" * 21),
        ("regions", ""),
        ("regions", []),
        ("regions", "us-east-1,us-east-1"),
        ("regions", "mars-1"),
        ("regions", "us-east-1,cn-north-1"),
        ("regions", "us-gov-west-1,us-west-2"),
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
        ("censusMinutes", -1),
        ("runbook", "a b"),
        ("alarmEmails", "ops"),
        ("webAclRate", 9),
        ("callerAccounts", "12"),
        ("auditExport", "hourly"),
        ("egress", "vpc"),
        ("daxNodeType", "t3.small"),
        ("daxNodes", 12),
        ("profile", "test"),
        ("consistency", "strong"),
        ("auditDigested", "content,pk"),
        ("auth", "none"),
        ("jwtIssuer", "idp.example.com"),
        ("jwtIssuer", "https://idp.example.com/?tenant=a"),
        ("jwtIssuer", "https://u@idp.example.com"),
        ("jwtIssuer", f"https://idp.example.com/{'a' * 256}"),
        ("jwtAudience", "a b"),
        ("jwtJwksUri", "file:///keys"),
        ("jwtAlgorithms", ""),
        ("jwtAlgorithms", "HS256"),
        ("jwtAlgorithms", "RS256,none"),
        ("jwtOrganisationClaim", ""),
        ("jwtOrganisationClaim", "org id"),
    ],
)
def test_a_bad_value_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"context '{name}' must be ") as caught:
        read(**{name: value})
    assert repr(value).strip("'") in str(caught.value)


TOKENS = {"auth": "jwt", "jwtIssuer": "https://idp.example.com", "jwtAudience": "store"}


def test_the_issuers_keys_are_where_most_issuers_have_them_unless_told_otherwise() -> None:
    assert read(**TOKENS).jwks_uri == "https://idp.example.com/.well-known/jwks.json"
    slashed = {**TOKENS, "jwtIssuer": "https://idp.example.com/tenant/"}
    assert read(**slashed).jwks_uri == "https://idp.example.com/tenant/.well-known/jwks.json"
    told = read(**TOKENS, jwtJwksUri="https://keys.example.com/v1/keys?app=1")
    assert told.jwks_uri == "https://keys.example.com/v1/keys?app=1"


@pytest.mark.parametrize(
    ("context", "name"),
    [
        ({"auth": "jwt"}, "jwtIssuer"),
        ({"auth": "jwt", "jwtIssuer": "https://idp.example.com"}, "jwtAudience"),
        ({"auth": "jwt", "jwtAudience": "store"}, "jwtIssuer"),
        ({**TOKENS, "auth": "iam"}, "jwtIssuer"),
        ({"jwtAudience": "store"}, "jwtAudience"),
        ({"jwtJwksUri": "https://idp.example.com/keys"}, "jwtJwksUri"),
        ({**TOKENS, "delegates": "*"}, "delegates"),
        ({**TOKENS, "callerAccounts": "111122223333"}, "callerAccounts"),
        ({**TOKENS, "jwtIssuer": "http://127.0.0.1:4567"}, "jwtIssuer"),
        ({**TOKENS, "jwtJwksUri": "http://127.0.0.1:4567/keys"}, "jwtJwksUri"),
        ({**TOKENS, "target": "local", "jwtIssuer": "http://idp.example.com"}, "jwtIssuer"),
        ({**TOKENS, "target": "local", "jwtJwksUri": "http://idp.example.com/keys"}, "jwtJwksUri"),
    ],
    ids=str,
)
def test_callers_of_two_kinds_or_of_none_are_refused(context: dict[str, object], name: str) -> None:
    with pytest.raises(ConfigError, match=f"context '{name}' must be "):
        read(**context)


def test_only_the_local_stack_has_its_issuer_on_loopback() -> None:
    url = "http://127.0.0.1:4567"
    assert read(**{**TOKENS, "jwtIssuer": url}, target="local").jwks_uri == f"{url}/.well-known/jwks.json"


@pytest.mark.parametrize("url", ["https://idp.example.com/oauth2/revoke?tenant=a", "https://idp:8443"])
def test_tokens_are_revoked_by_tls(url: str) -> None:
    assert read(revocationEndpoint=url).revocation_endpoint == url


def test_only_the_local_stack_revokes_on_loopback() -> None:
    url = "http://127.0.0.1:8080/revoke"
    assert read(revocationEndpoint=url, target="local").revocation_endpoint == url
    with pytest.raises(ConfigError, match="revocationEndpoint"):
        read(revocationEndpoint="http://idp.example.com/revoke", target="local")


def test_a_dashboard_has_room_for_so_many_regions() -> None:
    known = [name for name in region_info.RegionInfo.regions if name.partition == "aws"]
    names = [region.name for region in known][: MOST_REGIONS + 1]
    assert len(read(regions=names[:-1]).regions) == MOST_REGIONS
    with pytest.raises(ConfigError, match=r"context 'regions' must be .* from 1 to 10"):
        read(regions=names)


def test_what_is_refused_is_said_in_a_line() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "app.py"],
        env={**os.environ, "PYTHONPATH": "lambdas", "CDK_CONTEXT_JSON": '{"stage": "Prod"}'},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("error: context 'stage' must be lower-case letters")
    assert "Traceback" not in done.stderr
