"""The clean-up of ended sessions: each message of the queue is one session."""

import os
from typing import Any, Final

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import BatchProcessor, EventType, process_partial_response
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from session_store.background import open_cleanup
from session_store.domain.session_end import EndReason
from session_store.metric_names import Metric
from session_store.settings import read_cleanup_settings, read_settings
from session_store.storage.integrations.cleanup_queue import session_end_from

logger = Logger()
metrics = Metrics()
processor: Final = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)

cleanup = open_cleanup(read_settings(os.environ), read_cleanup_settings(os.environ))


def clean_up(record: SQSRecord, lambda_context: LambdaContext) -> None:
    """Clean up one ended session; an error leaves the message in the queue."""
    try:
        end = session_end_from(record.body)
        cleaned = cleanup.run(end, request_id=lambda_context.aws_request_id)
    except Exception as error:
        count(Metric.CLEANUP_FAILED, 1)
        # The type alone, since an error's text may quote the message.
        logger.error("not cleaned up", message_id=record.message_id, error=type(error).__name__)  # noqa: TRY400
        raise
    count(Metric.CLEANED_UP, 1)
    count(Metric.SESSIONS_EXPIRED, int(end.reason is EndReason.EXPIRED))
    count(Metric.CHILDREN_DELETED, cleaned.children)
    count(Metric.CREDENTIALS_REVOKED, cleaned.revoked)
    count(Metric.CREDENTIALS_FAILED, cleaned.failed)


def count(metric: Metric, number: int) -> None:
    metrics.add_metric(name=metric, unit=MetricUnit.Count, value=number)


@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Clean up a batch, and answer with the messages that failed: only they are delivered again."""
    cleanup.deadline.expires_in(context.get_remaining_time_in_millis() / 1000)
    return process_partial_response(
        event=event, record_handler=clean_up, processor=processor, context=context
    )
