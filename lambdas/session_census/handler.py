"""On a schedule: counts the living sessions, in all and by status."""

import os
import warnings
from typing import Any

from aws_lambda_powertools import Logger, Metrics, single_metric
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from session_store.background import open_census
from session_store.metric_names import SERVICE, STATUS, Metric, service_of
from session_store.settings import read_settings

logger = Logger()
metrics = Metrics()

# A run that ran out of time before the first status was counted publishes nothing, and logs that.
warnings.filterwarnings("ignore", message="No application metrics to publish")

census = open_census(read_settings(os.environ))


@logger.inject_lambda_context
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(_: dict[str, Any], context: LambdaContext) -> None:
    census.deadline.expires_in(context.get_remaining_time_in_millis() / 1000)
    counted = census.run()
    for status, living in counted.living.items():
        _publish(status, living)
    if counted.complete:
        living = sum(counted.living.values())
        metrics.add_metric(name=Metric.LIVING_SESSIONS, unit=MetricUnit.Count, value=living)
    else:
        logger.warning("not all sessions were counted", counted=sorted(counted.living))


def _publish(status: str, living: int) -> None:
    """Publish one status in a line of its own, since all metrics of a line share its dimensions."""
    dimensions = {SERVICE: service_of("session_census"), STATUS: status}
    with single_metric(
        name=Metric.LIVING_SESSIONS, unit=MetricUnit.Count, value=living, default_dimensions=dimensions
    ):
        pass
