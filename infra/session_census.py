"""The function that counts living sessions on a schedule."""

from typing import Final

from aws_cdk import Duration
from constructs import Construct

from infra.logged_function import Shared
from infra.schedule import run_every
from infra.table_function import TableFunction

TIMEOUT: Final = Duration.minutes(5)
"""Enough for some millions of sessions; an incomplete count is logged and not reported."""


class SessionCensus(TableFunction):
    """Not deployed if ``censusMinutes`` is 0."""

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
