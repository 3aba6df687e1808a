"""Who calls, by the token that they show: an authorizer (type TOKEN) before the REST API."""

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
"""The message by which API Gateway knows that it is to answer 401; any other is 500."""


class AnswerError(Exception):
    """How an authorizer says 401 or 500. Its message goes to the log, and nothing else of what happened."""


@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], _: LambdaContext) -> dict[str, Any]:
    """The policy for one call."""
    try:
        answer = _judged(event)
    except RefusedTokenError as error:
        logger.info("refused", reason=str(error))
        raise _answer(Metric.TOKENS_REFUSED, UNAUTHORIZED) from None
    except UnavailableError as error:
        logger.error("issuer unavailable", reason=str(error))  # noqa: TRY400 - its trace would say no more
        raise _answer(Metric.ISSUER_UNAVAILABLE, "the issuer's keys are not to be had") from None
    except Exception as error:  # noqa: BLE001 - the last resort: its text, which may quote the token, is not logged
        logger.error("crashed", error=type(error).__name__)  # noqa: TRY400 - likewise
        raise _answer(Metric.AUTHORIZER_CRASHED, "the authorizer crashed") from None
    metrics.add_metric(name=Metric.TOKENS_ACCEPTED, unit=MetricUnit.Count, value=1)
    return answer


def _judged(event: dict[str, Any]) -> dict[str, Any]:
    header = event["authorizationToken"]
    if header[: len(SCHEME)].lower() != SCHEME:
        raise RefusedTokenError("scheme")
    caller = verifier.verify(header[len(SCHEME) :])
    return policy_for(caller, method_arn=event["methodArn"])


def _answer(metric: Metric, message: str) -> AnswerError:
    metrics.add_metric(name=metric, unit=MetricUnit.Count, value=1)
    return AnswerError(message)
