"""The function that writes every minute, so that there is always something to replicate."""

from typing import Final

from aws_cdk import Duration, Stack
from constructs import Construct

from infra.logged_function import Shared
from infra.schedule import run_every
from infra.table_function import TableFunction
from session_store.metric_names import Metric
from session_store.schema import heartbeat_pk

EVERY: Final = Duration.minutes(1)
TIMEOUT: Final = Duration.seconds(15)
MISSED: Final = 5
"""Minutes without a heartbeat; a single one that fails or is late is harmless."""


class Heartbeat(TableFunction):
    """In a deployment with one region it is the canary of the write path.

    It may put only the item of its own region. The emulator accepts that condition without enforcing it.
    """

    def __init__(self, scope: Construct, construct_id: str, *, shared: Shared) -> None:
        super().__init__(
            scope,
            construct_id,
            shared=shared,
            package="heartbeat",
            description="write the heartbeat of this region",
            timeout=TIMEOUT,
            environment={},
        )
        self.allow(
            "dynamodb:PutItem",
            on=self.table_arn,
            where={
                "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [heartbeat_pk(Stack.of(self).region)]}
            },
        )
        rule = run_every(EVERY, self, about="write the heartbeat of this region")
        silent = self.alarms.on_silence(
            "heartbeat-silent",
            says="no heartbeat for five minutes: the region may not take or replicate writes",
            metric=self.alarms.counted(Metric.HEARTBEATS, by="heartbeat", period=EVERY),
            periods=MISSED,
        )
        # So that in a new stack it is raised for a minute or two, not until the rest of the stack exists.
        silent.node.add_dependency(rule)
