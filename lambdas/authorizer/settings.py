"""The settings of the authorizer, read once from its environment."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from session_store.errors import ConfigurationError
from session_store.schema import JwtEnv
from session_store.settings import LOOPBACK

ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""Signatures that a public key verifies. Shared secrets are excluded: they could also sign."""


class JwtSettings(Struct, frozen=True, kw_only=True):
    """Which tokens are accepted, and which claims are read from them."""

    issuer: str
    audience: tuple[str, ...]
    jwks_uri: str
    algorithms: tuple[str, ...]
    organisation_claim: str


def read_jwt_settings(environment: Mapping[str, str]) -> JwtSettings:
    """Settings of the authorizer from environment variables.

    Raises:
        ConfigurationError: a variable is missing or wrong; names it.
    """
    algorithms = _list(environment, JwtEnv.ALGORITHMS)
    if not set(algorithms) <= ALGORITHMS:
        message = f"{JwtEnv.ALGORITHMS} must be a list of {', '.join(sorted(ALGORITHMS))}"
        raise ConfigurationError(message)
    return JwtSettings(
        issuer=_text(environment, JwtEnv.ISSUER),
        audience=_list(environment, JwtEnv.AUDIENCE),
        jwks_uri=_uri(environment),
        algorithms=algorithms,
        organisation_claim=_text(environment, JwtEnv.ORGANISATION_CLAIM),
    )


def _uri(environment: Mapping[str, str]) -> str:
    """The URI of the key set: HTTPS, since plain HTTP could be tampered with, or HTTP on this machine."""
    value = _text(environment, JwtEnv.JWKS_URI)
    on_loopback = environment.get(JwtEnv.ON_LOOPBACK) == "true"
    url = urlsplit(value)
    is_allowed = url.scheme == "https" or (url.scheme == "http" and on_loopback and url.hostname in LOOPBACK)
    if not is_allowed or not url.hostname or url.username is not None:
        message = f"{JwtEnv.JWKS_URI} must be an https URL without a user"
        raise ConfigurationError(message)
    return value


def _text(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not value:
        message = f"{name} is not set"
        raise ConfigurationError(message)
    return value


def _list(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    entries = tuple(entry.strip() for entry in _text(environment, name).split(",") if entry.strip())
    if not entries:
        message = f"{name} names nothing"
        raise ConfigurationError(message)
    return entries
