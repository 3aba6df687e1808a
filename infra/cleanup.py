"""The clean-up of ended sessions: their queue, and the function that processes it."""

from typing import Final

from aws_cdk import Duration, Stack
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra import names
from infra.alarms import LONG
from infra.config import Config
from infra.event_bus import SessionEvents
from infra.logged_function import Shared
from infra.queues import queue
from infra.table_function import TableFunction
from session_store.metric_names import Metric
from session_store.schema import BusEnv, CleanupEnv

TIMEOUT: Final = Duration.minutes(5)
VISIBILITY: Final = Duration.seconds(6 * TIMEOUT.to_seconds())
"""Six times the function's timeout, as AWS recommends for queues that trigger a function."""

DELIVERIES: Final = 10
"""Before a message is dead-lettered: five hours for an authorization server to recover, or ten runs to
delete children."""

LATE: Final = Duration.hours(1)
"""Either two deliveries failed, or sessions end faster than they are cleaned up."""

BATCH: Final = 1
"""So that a session with a million children does not delay any other."""

MAX_CONCURRENCY: Final = 10
"""Sessions cleaned up at once: limits the throughput that is taken from callers when many end together."""


class CleanupQueue(Construct):
    """The stream consumer sends a message for each session that ends in this region."""

    def __init__(self, scope: Construct, construct_id: str, *, shared: Shared) -> None:
        super().__init__(scope, construct_id)
        self.dead_letters = queue(
            self,
            "DeadLetters",
            config=shared.config,
            key=shared.key,
            name=names.CLEANUP_DEAD_LETTERS,
        )
        self.queue = queue(
            self,
            "Queue",
            config=shared.config,
            key=shared.key,
            name=names.CLEANUP_QUEUE,
            visibility=VISIBILITY,
            gives_up_to=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=DELIVERIES),
        )
        shared.alarms.on_depth(
            self.dead_letters,
            "cleanup",
            says="the clean-up of a session failed in every attempt and is in the dead-letter queue",
        )
        shared.alarms.add(
            "cleanup-late",
            says="the clean-up of ended sessions is more than an hour behind",
            metric=self.queue.metric_approximate_age_of_oldest_message(period=LONG, statistic="Maximum"),
            above=LATE.to_seconds(),
        )


class ExpiryCleanup(TableFunction):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        shared: Shared,
        cleanup: CleanupQueue,
        session_events: SessionEvents,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            shared=shared,
            package="expiry_cleanup",
            description="clean up after ended sessions",
            timeout=TIMEOUT,
            environment={
                BusEnv.EVENT_BUS_NAME.value: session_events.bus.event_bus_name,
                **_credentials(shared.config),
            },
        )
        self.allow("dynamodb:BatchWriteItem", "dynamodb:GetItem", "dynamodb:Query", on=self.table_arn)
        self.allow("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", on=self.audit_table_arn)
        if shared.config.revokes:
            self.allow("secretsmanager:GetSecretValue", on=self._secrets_arn(shared.config))
        self.allow_key("kms:Decrypt", through="sqs")
        session_events.bus.grant_put_events_to(self.role)
        self.function.add_event_source(
            event_sources.SqsEventSource(
                cleanup.queue,
                batch_size=BATCH,
                max_concurrency=MAX_CONCURRENCY,
                report_batch_item_failures=True,
            )
        )
        self.alarms.add(
            "credentials-failed",
            says="a credential of an ended session was not revoked",
            metric=self.alarms.counted(Metric.CREDENTIALS_FAILED, by="expiry_cleanup"),
            above=0,
        )

    def _secrets_arn(self, config: Config) -> str:
        stack = Stack.of(self)
        secret = f"{config.credential_prefix}/*"
        return f"arn:{stack.partition}:secretsmanager:{stack.region}:{stack.account}:secret:{secret}"


def _credentials(config: Config) -> dict[str, str]:
    variables = {CleanupEnv.CREDENTIAL_PREFIX.value: config.credential_prefix}
    if config.revocation_endpoint is not None:
        variables[CleanupEnv.REVOCATION_ENDPOINT.value] = config.revocation_endpoint
    if config.revocation_client_secret is not None:
        variables[CleanupEnv.REVOCATION_CLIENT_SECRET.value] = (
            f"{config.credential_prefix}/{config.revocation_client_secret}"
        )
    if config.is_local:
        variables[CleanupEnv.REVOCATION_ON_LOOPBACK.value] = "true"
    return variables
