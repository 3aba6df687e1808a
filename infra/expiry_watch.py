"""The function that every minute ends overdue tasks and announces expiring sessions."""

from typing import Final

from aws_cdk import Duration
from constructs import Construct

from infra.event_bus import SessionEvents
from infra.logged_function import Shared
from infra.schedule import run_every
from infra.table_function import TableFunction
from session_store.schema import BusEnv, WatchEnv

EVERY: Final = Duration.minutes(1)
TIMEOUT: Final = Duration.seconds(55)
"""Below the schedule's interval, so that two runs seldom overlap and announce a session twice."""


class ExpiryWatch(TableFunction):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        shared: Shared,
        session_events: SessionEvents,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            shared=shared,
            package="expiry_watch",
            description="announce expiring sessions and end overdue tasks",
            timeout=TIMEOUT,
            environment={
                BusEnv.EVENT_BUS_NAME.value: session_events.bus.event_bus_name,
                WatchEnv.EXPIRING_WITHIN_SECONDS.value: str(shared.config.expiring_within_seconds),
            },
        )
        self.allow("dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", on=self.table_arn)
        self.allow("dynamodb:Query", on=self.indexes_arn)
        session_events.bus.grant_put_events_to(self.role)
        run_every(EVERY, self, about="announce expiring sessions and end overdue tasks")
