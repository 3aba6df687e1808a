"""Combinations of settings that are refused although each setting is valid by itself."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from aws_cdk import region_info

from infra.config_values import Egress
from infra.context import ConfigError
from infra.options import options
from session_store.schema import Callers

if TYPE_CHECKING:
    from infra.config import Config


def judge(config: "Config") -> None:
    """Raises ``ConfigError`` for the first setting that contradicts another."""
    for refused in _REFUSALS:
        refused(config)


def _refuse_plain_http(config: "Config") -> None:
    """Tokens are sent over TLS only, or stay on this machine."""
    endpoint = config.revocation_endpoint
    if endpoint is not None and not endpoint.startswith("https:") and not config.is_local:
        raise _refusal(config, "revocation_endpoint", endpoint)


def _refuse_settings_of_other_callers(config: "Config") -> None:
    """Settings of the other authentication mode, which would be ignored, and missing ones of this mode."""
    of_tokens = ("jwt_issuer", "jwt_audience", "jwt_jwks_uri")
    of_signatures = ("delegates", "caller_accounts")
    with_tokens = config.auth is Callers.JWT
    for field in of_signatures if with_tokens else of_tokens:
        if value := getattr(config, field):
            raise _refusal(config, field, value)
    if with_tokens:
        for field in ("jwt_issuer", "jwt_audience"):
            if not getattr(config, field):
                raise _refusal(config, field, "")


def _refuse_issuers_by_plain_http(config: "Config") -> None:
    """A man in the middle could substitute keys."""
    for field in ("jwt_issuer", "jwt_jwks_uri"):
        value: str | None = getattr(config, field)
        if value is not None and not value.startswith("https:") and not config.is_local:
            raise _refusal(config, field, value)


def _refuse_partitions_apart(config: "Config") -> None:
    """Neither a global table nor a multi-Region key spans partitions."""
    if len({region_info.RegionInfo.get(region).partition for region in config.regions}) > 1:
        raise _refusal(config, "regions", ",".join(config.regions))


def _refuse_a_cache_cut_off(config: "Config") -> None:
    """An isolated subnet reaches DynamoDB only in its own region, and a session's home may be another."""
    if config.dax_nodes and config.replicas and config.egress is Egress.ISOLATED:
        raise _refusal(config, "egress", config.egress.value)


def _refuse_emails_without_topic(config: "Config") -> None:
    if config.alarm_emails and not config.alarm_topic:
        raise _refusal(config, "alarm_emails", ",".join(config.alarm_emails))


def _refuse_exports_that_lose_rows(config: "Config") -> None:
    """Rows must live longer than the interval between exports."""
    if config.audit_retention_days <= config.audit_export.days:
        raise _refusal(config, "audit_export", config.audit_export.value)


_REFUSALS: Final[tuple[Callable[["Config"], None], ...]] = (
    _refuse_partitions_apart,
    _refuse_plain_http,
    _refuse_settings_of_other_callers,
    _refuse_issuers_by_plain_http,
    _refuse_a_cache_cut_off,
    _refuse_emails_without_topic,
    _refuse_exports_that_lose_rows,
)


def _refusal(config: "Config", field: str, value: object) -> ConfigError:
    declared = options(type(config))[field]
    return ConfigError(declared.name, value, allowed=declared.allowed)
