"""The stack of one region on its replicas of the tables: the API, stream consumer, clean-up and schedules."""

from aws_cdk import CfnOutput, Environment, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.alarm_topic import alarm_topic
from infra.alarms import Alarms
from infra.api.alarms import alarm_on_api
from infra.api.authorizer import Authorizer
from infra.api.function import ApiFunction
from infra.api.rest_api import SessionRestApi
from infra.api.web_acl import WebAcl
from infra.audit_consumer import AuditConsumer, table_with_stream
from infra.audit_export import AuditExport
from infra.cache.cluster import watch_cluster
from infra.cache.network import Placement
from infra.cleanup import CleanupQueue, ExpiryCleanup
from infra.config import Config
from infra.event_bus import SessionEvents
from infra.expiry_watch import ExpiryWatch
from infra.heartbeat import Heartbeat
from infra.logged_function import Shared, dependencies_layer
from infra.payload_bucket import PayloadBucket
from infra.redrive import DeadLetterPlaces, connect_redrive
from infra.replication_alarms import watch_replication
from infra.session_census import SessionCensus
from infra.table_alarms import alarm_on_tables
from session_store.schema import Callers


class RegionalStack(Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        env: Environment,
        primary_table: dynamodb.ITableV2,
        key_arn: str | None,
        placement: Placement | None,
        audit_export: AuditExport | None,
    ) -> None:
        """``audit_export``: given in the region that has its alarm, since alarms and topic are here."""
        super().__init__(scope, construct_id, env=env, description="Session store: the API of one region")
        key = None if key_arn is None else kms.Key.from_key_arn(self, "Key", key_arn)
        topic = alarm_topic(self, config=config, key=key)
        self.alarms = Alarms(self, "Alarms", config=config, topic=topic)
        shared = Shared(
            config=config,
            dependencies=dependencies_layer(self, "Dependencies", config=config),
            alarms=self.alarms,
            key=key,
        )
        # The tables are imported by name: their replicas belong to the Data stack in the primary region.
        handler = ApiFunction(self, "SessionApi", shared=shared, placement=placement)
        authorizer = Authorizer(self, "Authorizer", shared=shared) if config.auth is Callers.JWT else None
        rest = SessionRestApi(self, "Rest", shared=shared, function=handler.function, authorizer=authorizer)
        alarm_on_api(self.alarms, stage=rest.api.deployment_stage, function=handler.function)
        alarm_on_tables(self.alarms, config=config)
        if config.web_acl:
            WebAcl(self, "WebAcl", shared=shared, stage=rest.api.deployment_stage)
        if config.dax_nodes:
            watch_cluster(self.alarms, config=config)
        events = SessionEvents(self, "Events", config=config)
        self.cleanup = CleanupQueue(self, "CleanupQueue", shared=shared)
        cleaner = ExpiryCleanup(
            self, "ExpiryCleanup", shared=shared, cleanup=self.cleanup, session_events=events
        )
        self.payloads = PayloadBucket(self, "Payloads", shared=shared) if config.large_payloads else None
        if self.payloads is not None:
            self.payloads.let_keep(handler)
            self.payloads.let_erase(cleaner)
        self.audit_consumer = AuditConsumer(
            self,
            "AuditConsumer",
            shared=shared,
            table=table_with_stream(self, shared=shared, primary=primary_table),
            cleanup=self.cleanup,
        )
        ExpiryWatch(self, "ExpiryWatch", shared=shared, session_events=events)
        if config.census_minutes:
            SessionCensus(self, "SessionCensus", shared=shared)
        Heartbeat(self, "Heartbeat", shared=shared)
        watch_replication(self.alarms, config=config, source=self.region)
        if audit_export is not None:
            audit_export.watch(self.alarms)
        connect_redrive(
            self,
            handler.function,
            places=DeadLetterPlaces(
                stream_dead_letters=self.audit_consumer.dead_letters,
                cleanup_dead_letters=self.cleanup.dead_letters,
                cleanup_queue=self.cleanup.queue,
                consumer=self.audit_consumer.function,
                quarantine=self.audit_consumer.quarantine,
            ),
            config=config,
        )
        CfnOutput(self, "ApiUrl", value=rest.api.url)
        CfnOutput(self, "ApiId", value=rest.api.rest_api_id)
        CfnOutput(self, "TableName", value=config.table_name)
        CfnOutput(self, "EventBusName", value=events.bus.event_bus_name)
        CfnOutput(self, "CleanupQueueUrl", value=self.cleanup.queue.queue_url)
