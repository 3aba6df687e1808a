"""A wrongly configured authorizer does not start."""

import pytest

from authorizer.settings import JwtSettings, read_jwt_settings
from session_store.errors import ConfigurationError
from session_store.schema import JwtEnv

ENVIRONMENT = {
    "JWT_ISSUER": "https://issuer.example",
    "JWT_AUDIENCE": "a,b",
    "JWT_JWKS_URI": "https://issuer.example/keys",
    "JWT_ALGORITHMS": "RS256,EdDSA",
    "JWT_ORGANISATION_CLAIM": "org_id",
    "JWT_ON_LOOPBACK": "false",
}


def test_settings_are_read_from_the_environment() -> None:
    assert set(ENVIRONMENT) == set(JwtEnv)
    assert read_jwt_settings(ENVIRONMENT) == JwtSettings(
        issuer="https://issuer.example",
        audience=("a", "b"),
        jwks_uri="https://issuer.example/keys",
        algorithms=("RS256", "EdDSA"),
        organisation_claim="org_id",
    )


@pytest.mark.parametrize("value", ["a,b", "a, b", " a ,b,", "a,,b"])
def test_entries_of_a_list_are_stripped_and_empty_ones_ignored(value: str) -> None:
    assert read_jwt_settings({**ENVIRONMENT, "JWT_AUDIENCE": value}).audience == ("a", "b")


@pytest.mark.parametrize("name", ["JWT_AUDIENCE", "JWT_ALGORITHMS"])
@pytest.mark.parametrize("value", [",", " ", " , "])
def test_a_list_without_entries_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name} names nothing$"):
        read_jwt_settings({**ENVIRONMENT, name: value})


@pytest.mark.parametrize("name", sorted(set(ENVIRONMENT) - {JwtEnv.ON_LOOPBACK}))
def test_a_missing_variable_is_named(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name} is not set$"):
        read_jwt_settings({**ENVIRONMENT, name: ""})


@pytest.mark.parametrize("value", ["none", "HS256", "RS256,HS256", "RS256,none", "rs256"])
def test_an_algorithm_with_a_shared_secret_is_refused(value: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^JWT_ALGORITHMS must be"):
        read_jwt_settings({**ENVIRONMENT, "JWT_ALGORITHMS": value})


@pytest.mark.parametrize(
    "uri",
    [
        "http://issuer.example/keys",
        "http://127.0.0.1/keys",
        "https://u@issuer.example/",
        "file:///k",
        "https://",
    ],
)
def test_the_key_set_is_fetched_by_https_from_a_named_host(uri: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^JWT_JWKS_URI must be"):
        read_jwt_settings({**ENVIRONMENT, "JWT_JWKS_URI": uri})


def test_the_key_set_may_be_on_this_machine_where_that_is_allowed() -> None:
    local = {**ENVIRONMENT, "JWT_ON_LOOPBACK": "true"}
    uri = "http://127.0.0.1:4567/keys"
    assert read_jwt_settings({**local, "JWT_JWKS_URI": uri}).jwks_uri == uri
    with pytest.raises(ConfigurationError):
        read_jwt_settings({**local, "JWT_JWKS_URI": "http://issuer.example/keys"})
