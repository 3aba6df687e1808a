"""The event bus for SessionExpiringSoon and SessionEnded."""

from aws_cdk import aws_events as events
from constructs import Construct

from infra.config import Config


class SessionEvents(Construct):
    """Consumers add their own rules. Delivery is at least once; duplicates share ``detail.eventId``."""

    def __init__(self, scope: Construct, construct_id: str, *, config: Config) -> None:
        super().__init__(scope, construct_id)
        self.bus = events.EventBus(
            self,
            "Bus",
            event_bus_name=config.event_bus_name,
            description="Session store: events about sessions",
        )
