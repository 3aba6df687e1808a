"""The function that counts living sessions now and then."""

from typing import Final

from aws_cdk import Duration
from constructs import Construct

from infra.logged_function import Shared
from infra.schedule import run_every
from infra.table_function import TableFunction

TIMEOUT: Final = Duration.minutes(5)
"""Some millions of sessions; what it does not come to is not told, and says so in the log."""


class SessionCensus(TableFunction):
    """There is none where ``censusMinutes`` is 0."""

    def __init__(self, scope: Construct, construct_id: str, *, shared: Shared) -> None:
        super().__init__(
            scope,
            construct_id,
            shared=shared,
            package="session_census",
            description="count living sessions",
            timeout=TIMEOUT,
            environment={},
        )
        self.allow("dynamodb:Query", on=self.indexes_arn)
        run_every(
            Duration.minutes(shared.config.census_minutes),
            self,
            about="count living sessions",
        )
