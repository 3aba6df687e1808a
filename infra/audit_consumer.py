"""The consumer of the table's stream: function, event source mapping, quarantine, dead-letter queue."""

from typing import TYPE_CHECKING, Final, cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra import names
from infra.alarms import LONG
from infra.buckets import bucket
from infra.cleanup import CleanupQueue
from infra.config import Config
from infra.logged_function import Shared
from infra.queues import queue
from infra.table_function import TableFunction
from session_store.metric_names import Metric
from session_store.schema import HEARTBEAT_SK, QUARANTINE_PREFIX, Attribute, StreamEnv

if TYPE_CHECKING:
    from aws_cdk import CfnResource

TIMEOUT: Final = Duration.seconds(60)
BATCH: Final = 100
WINDOW: Final = Duration.seconds(1)
ATTEMPTS: Final = 3
MAX_RECORD_AGE: Final = Duration.hours(12)
"""Half of the stream's retention: a record that was given up can be redriven for as long again."""

QUARANTINE_DAYS: Final = 90
LATE: Final = Duration.minutes(10)


class AuditConsumer(TableFunction):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        shared: Shared,
        table: dynamodb.ITableV2,
        cleanup: CleanupQueue,
    ) -> None:
        config = shared.config
        quarantine = _quarantine(scope, config=config, key=shared.key)
        super().__init__(
            scope,
            construct_id,
            shared=shared,
            package="audit_consumer",
            description="write the audit trail and queue the clean-up of ended sessions",
            timeout=TIMEOUT,
            environment={
                StreamEnv.AUDIT_DIGESTED.value: ",".join(config.audit_digested),
                StreamEnv.CLEANUP_QUEUE_URL.value: cleanup.queue.queue_url,
                StreamEnv.CLEANUP_DELAY_SECONDS.value: str(config.cleanup_delay_seconds),
                StreamEnv.QUARANTINE_BUCKET.value: quarantine.bucket_name,
            },
        )
        self.quarantine = quarantine
        self.dead_letters = queue(
            self, "DeadLetters", config=config, key=shared.key, name=names.STREAM_DEAD_LETTERS
        )
        self.allow("dynamodb:PutItem", on=self.audit_table_arn)
        self.allow("sqs:SendMessage", on=cleanup.queue.queue_arn)
        self.allow("s3:PutObject", on=quarantine.arn_for_objects(f"{QUARANTINE_PREFIX}*"))
        # Lambda sends to the dead-letter queue with the function's role.
        self.allow_key("kms:Decrypt", "kms:GenerateDataKey", through="sqs")
        self.allow_key("kms:GenerateDataKey", through="s3")
        self.function.add_event_source(_mapping(table, self.dead_letters))
        self.alarms.on_depth(
            self.dead_letters,
            "stream",
            says="stream records failed in every attempt and are in the dead-letter queue",
        )
        self.alarms.add(
            "stream-late",
            says="the stream consumer is more than ten minutes behind",
            metric=self.function.metric("IteratorAge", period=LONG, statistic="Maximum"),
            above=LATE.to_milliseconds(),
        )
        self.alarms.add(
            "quarantined",
            says="a stream record could not be interpreted and is in quarantine",
            metric=self.alarms.counted(Metric.QUARANTINED, by="audit_consumer"),
            above=0,
        )


def _mapping(table: dynamodb.ITableV2, dead_letters: sqs.IQueue) -> event_sources.DynamoEventSource:
    """No record blocks its shard: retries are limited, batches bisected, failures dead-lettered."""
    # By the sort key, which is constant: Lambda documents `anything-but` only for whole values.
    no_heartbeat = {"dynamodb": {"Keys": {Attribute.SK.value: {"S": [{"anything-but": [HEARTBEAT_SK]}]}}}}
    return event_sources.DynamoEventSource(
        table,
        starting_position=lambda_.StartingPosition.TRIM_HORIZON,
        batch_size=BATCH,
        max_batching_window=WINDOW,
        bisect_batch_on_error=True,
        retry_attempts=ATTEMPTS,
        max_record_age=MAX_RECORD_AGE,
        report_batch_item_failures=True,
        on_failure=event_sources.SqsDlq(dead_letters),
        filters=[lambda_.FilterCriteria.filter(no_heartbeat)],
    )


def _quarantine(scope: Construct, *, config: Config, key: kms.IKey | None) -> s3.Bucket:
    """Records that could not be interpreted, kept whole for inspection."""
    kept = s3.LifecycleRule(expiration=Duration.days(QUARANTINE_DAYS))
    return bucket(scope, "Quarantine", config=config, key=key, lifecycle=[kept])


def table_with_stream(scope: Construct, *, shared: Shared, primary: dynamodb.ITableV2) -> dynamodb.ITableV2:
    """This region's replica of the session table, with its own stream.

    ``primary`` is the table in the primary region. The label of a replica's stream is known only once it
    exists, so it is looked up when the stack is deployed. Table and stream are imported by name: given the
    table's key, CDK would grant its use without any condition.
    """
    stack = Stack.of(scope)
    config = shared.config
    arn = stack.format_arn(service="dynamodb", resource="table", resource_name=config.table_name)
    is_primary = stack.region == config.primary
    stream = (
        primary.table_stream_arn
        if is_primary
        else _stream_of_replica(scope, shared=shared, arn=arn, primary=primary)
    )
    return dynamodb.TableV2.from_table_attributes(scope, "Table", table_arn=arn, table_stream_arn=stream)


def _stream_of_replica(scope: Construct, *, shared: Shared, arn: str, primary: dynamodb.ITableV2) -> str:
    """Looked up again when the primary's stream has changed, which means that the table was recreated.

    CloudFormation calls a custom resource only when its properties change. The primary's stream is one of
    them, which also makes the lookup wait for the table's stack. A new ARN replaces the resource (the ARN
    is its physical id) and with it the mapping, which starts at the beginning of the new stream.
    """
    from aws_cdk import custom_resources  # noqa: PLC0415 - only a replica's stack needs it

    config = shared.config
    call = custom_resources.AwsSdkCall(
        service="DynamoDB",
        action="describeTable",
        parameters={"TableName": config.table_name},
        physical_resource_id=custom_resources.PhysicalResourceId.from_response("Table.LatestStreamArn"),
        output_paths=["Table.LatestStreamArn"],
    )
    log_group = logs.LogGroup(
        scope,
        "StreamOfReplicaLogs",
        retention=config.log_retention,
        removal_policy=config.removal,
        encryption_key=shared.key,
    )
    # As for the store's functions: CDK's own role would have a managed policy on every log group.
    role = iam.Role(scope, "StreamOfReplicaRole", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    log_group.grant_write(role)
    lookup = custom_resources.AwsCustomResource(
        scope,
        "StreamOfReplica",
        on_create=call,
        on_update=call,
        install_latest_aws_sdk=False,
        log_group=log_group,
        role=role,
        policy=custom_resources.AwsCustomResourcePolicy.from_sdk_calls(resources=[arn]),
    )
    resource = cast("CfnResource", lookup.node.find_child("Resource").node.default_child)
    resource.add_property_override("PrimaryStream", primary.table_stream_arn)
    return lookup.get_response_field("Table.LatestStreamArn")
