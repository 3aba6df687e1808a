"""Each minute: writes a heartbeat to this region's replica of the table, so that replication is measured."""

import os
from typing import Any

from aws_lambda_powertools import Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from session_store.background import open_heart
from session_store.metric_names import Metric
from session_store.settings import read_settings

metrics = Metrics()

heart = open_heart(read_settings(os.environ))


@metrics.log_metrics(capture_cold_start_metric=True)
def handler(_: dict[str, Any], context: LambdaContext) -> None:
    heart.deadline.expires_in(context.get_remaining_time_in_millis() / 1000)
    heart.beat(request_id=context.aws_request_id)
    metrics.add_metric(name=Metric.HEARTBEATS, unit=MetricUnit.Count, value=1)
