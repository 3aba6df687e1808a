"""The session API: the Lambda function behind the REST API."""

from session_store import loading

# isort: split
import os
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.logging import correlation_paths
from aws_lambda_powertools.utilities.typing import LambdaContext

from session_api.request_metrics import RequestMetrics
from session_api.resolver import Resolver
from session_store.bootstrap import open_store
from session_store.settings import read_payload_bucket, read_redrive_settings, read_settings

logger = Logger()
metrics = Metrics()

settings = read_settings(os.environ)
store = open_store(
    settings, read_redrive_settings(os.environ), payload_bucket=read_payload_bucket(os.environ)
)
resolver = Resolver(
    store=store, settings=settings, logger=logger, request_metrics=RequestMetrics(metrics=metrics)
)
app = resolver.build()
loading.finish()


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_REST)
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Answer one event of the gateway (REST API, Lambda proxy integration)."""
    store.deadline.expires_in(context.get_remaining_time_in_millis() / 1000)
    return app.resolve(resolver.with_encoded_path(event), context)
