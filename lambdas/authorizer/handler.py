"""The authorizer (type TOKEN) of the REST API: verifies bearer tokens and answers with a policy."""

import os
import time
from typing import Any, Final

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from authorizer.key_ring import KeyRing
from authorizer.key_source import KeySource
from authorizer.policy import policy_for
from authorizer.settings import read_jwt_settings
from authorizer.tokens import RefusedTokenError, Verifier
from session_store.errors import UnavailableError
from session_store.metric_names import Metric

logger = Logger()
metrics = Metrics()

settings = read_jwt_settings(os.environ)
keys = KeyRing(fetch=KeySource(uri=settings.jwks_uri).fetch, monotonic=time.monotonic)
verifier = Verifier(settings=settings, keys=keys)

SCHEME: Final = "bearer "
UNAUTHORIZED: Final = "Unauthorized"
"""The message that API Gateway answers with 401; any other becomes 500."""


class AuthorizerError(Exception):
    """Makes API Gateway answer 401 or 500. Its message is logged, and nothing else of what happened."""


@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], _: LambdaContext) -> dict[str, Any]:
    """Answer one request's token with the policy of its caller."""
    try:
        policy = _authorize(event)
    except RefusedTokenError as error:
        logger.info("refused", reason=str(error))
        raise _counted_error(Metric.TOKENS_REFUSED, UNAUTHORIZED) from None
    except UnavailableError as error:
        logger.error("issuer unavailable", reason=str(error))  # noqa: TRY400 - a trace would add nothing
        raise _counted_error(Metric.ISSUER_UNAVAILABLE, "the issuer's keys are unavailable") from None
    except Exception as error:  # noqa: BLE001 - the last resort: its text may quote the token and is not logged
        logger.error("crashed", error=type(error).__name__)  # noqa: TRY400 - likewise
        raise _counted_error(Metric.AUTHORIZER_CRASHED, "the authorizer crashed") from None
    metrics.add_metric(name=Metric.TOKENS_ACCEPTED, unit=MetricUnit.Count, value=1)
    return policy


def _authorize(event: dict[str, Any]) -> dict[str, Any]:
    header = event["authorizationToken"]
    if header[: len(SCHEME)].lower() != SCHEME:
        raise RefusedTokenError("scheme")
    caller = verifier.verify(header[len(SCHEME) :])
    return policy_for(caller, method_arn=event["methodArn"])


def _counted_error(metric: Metric, message: str) -> AuthorizerError:
    metrics.add_metric(name=metric, unit=MetricUnit.Count, value=1)
    return AuthorizerError(message)
