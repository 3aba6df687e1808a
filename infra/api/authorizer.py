"""The Lambda authorizer that verifies bearer tokens in front of the API, with ``auth=jwt``."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_apigateway as apigateway
from constructs import Construct

from infra.bundling import TOKEN_LOCK
from infra.config import Config
from infra.logged_function import LoggedFunction, Shared, dependencies_layer
from session_store.metric_names import Metric
from session_store.schema import JwtEnv

PACKAGE: Final = "authorizer"
TIMEOUT: Final = Duration.seconds(10)
"""Enough for a cold start and one fetch of keys from a slow issuer; API Gateway waits longer."""

FORM: Final = r"^[Bb][Ee][Aa][Rr][Ee][Rr] [A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]+$"
"""Anything else is answered 401 by API Gateway, without running the function."""


class Authorizer(LoggedFunction):
    """It may only log, and has no access to the tables."""

    def __init__(self, scope: Construct, construct_id: str, *, shared: Shared) -> None:
        layer = dependencies_layer(scope, "TokenDependencies", config=shared.config, lock=TOKEN_LOCK)
        super().__init__(
            scope,
            construct_id,
            shared=shared,
            package=PACKAGE,
            description="verify bearer tokens",
            timeout=TIMEOUT,
            environment=_environment(shared.config),
            layers=[layer],
        )
        # Not on its errors: an authorizer answers 401 by an error.
        for name, says, metric in (
            (
                "issuer-unavailable",
                "the issuer's keys cannot be fetched",
                Metric.ISSUER_UNAVAILABLE,
            ),
            (
                "authorizer-crashes",
                "the authorizer failed on a token with an unhandled error",
                Metric.AUTHORIZER_CRASHED,
            ),
        ):
            self.alarms.add(name, says=says, metric=self.alarms.counted(metric, by=PACKAGE), above=0)

    def before(self, scope: Construct) -> apigateway.TokenAuthorizer:
        """It verifies every call: a cached result could outlive the token and its permissions."""
        return apigateway.TokenAuthorizer(
            scope,
            "Tokens",
            handler=self.function,
            results_cache_ttl=Duration.seconds(0),
            validation_regex=FORM,
        )


def _environment(config: Config) -> dict[str, str]:
    variables = {
        JwtEnv.ISSUER.value: config.jwt_issuer or "",
        JwtEnv.AUDIENCE.value: ",".join(config.jwt_audience),
        JwtEnv.JWKS_URI.value: config.jwks_uri,
        JwtEnv.ALGORITHMS.value: ",".join(config.jwt_algorithms),
        JwtEnv.ORGANISATION_CLAIM.value: config.jwt_organisation_claim,
    }
    if config.is_local:
        variables[JwtEnv.ON_LOOPBACK.value] = "true"
    return variables
