"""Each minute: ends overdue tasks and approvals, and announces sessions that are about to expire."""

import os
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from session_store.background import open_expiry_watch
from session_store.metric_names import Metric
from session_store.settings import read_settings, read_watch_settings

logger = Logger()
metrics = Metrics()

watch, overdue = open_expiry_watch(read_settings(os.environ), read_watch_settings(os.environ))


@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(_: dict[str, Any], context: LambdaContext) -> None:
    watch.deadline.expires_in(context.get_remaining_time_in_millis() / 1000)
    try:
        _end_overdue_tasks(context.aws_request_id)
    finally:
        _announce_sessions(context.aws_request_id)


def _end_overdue_tasks(request_id: str) -> None:
    lapsed = overdue.run(request_id=request_id)
    metrics.add_metric(name=Metric.TASKS_LAPSED, unit=MetricUnit.Count, value=lapsed.ended)
    if lapsed.more:
        logger.warning("not all overdue tasks were ended", ended=lapsed.ended)


def _announce_sessions(request_id: str) -> None:
    watched = watch.run(request_id=request_id)
    metrics.add_metric(name=Metric.WARNED, unit=MetricUnit.Count, value=watched.warned)
    if watched.more:
        logger.warning("not all sessions were announced", warned=watched.warned)
