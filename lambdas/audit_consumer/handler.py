"""The consumer of the table's stream: audits every change, and queues ended sessions for clean-up."""

import hashlib
import os
from typing import Any, Final

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from audit_consumer.records import decode_record
from session_store.background import open_stream_consumer
from session_store.errors import UnreadableRecordError
from session_store.metric_names import Metric
from session_store.settings import read_settings, read_stream_settings

logger = Logger()
metrics = Metrics()
processor: Final = BatchProcessor(EventType.DynamoDBStreams, raise_on_entire_batch_failure=False)

settings = read_settings(os.environ)
consumer, quarantine = open_stream_consumer(settings, read_stream_settings(os.environ))


def consume(record: DynamoDBRecord) -> None:
    """Audit one record. An unreadable one is quarantined whole and reported, and blocks nothing."""
    try:
        consumer.consume(decode_record(record.raw_event))
    except UnreadableRecordError as error:
        quarantine.keep(record.raw_event, name=_name(record), reason=str(error))
        metrics.add_metric(name=Metric.QUARANTINED, unit=MetricUnit.Count, value=1)
        logger.error(  # noqa: TRY400 - a trace adds nothing, and an exception's context may quote an item
            "quarantined", reason=str(error), sequence_number=_sequence_number(record)
        )
    else:
        metrics.add_metric(name=Metric.AUDITED, unit=MetricUnit.Count, value=1)


def _sequence_number(record: DynamoDBRecord) -> str:
    return str((record.raw_event.get("dynamodb") or {}).get("SequenceNumber", "none"))


def _name(record: DynamoDBRecord) -> str:
    """The name of a record in quarantine: the same at every delivery."""
    stream = hashlib.sha256(str(record.raw_event.get("eventSourceARN")).encode()).hexdigest()[:8]
    return f"{stream}-{_sequence_number(record)}"


@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Consume a batch, and answer with the records that failed: Lambda delivers again from the lowest."""
    answer = process_partial_response(
        event=event, record_handler=consume, processor=processor, context=context
    )
    # Zero too: Powertools warns about a run that counts nothing, such as one whose every record failed.
    metrics.add_metric(name=Metric.FAILED, unit=MetricUnit.Count, value=len(answer["batchItemFailures"]))
    return answer
