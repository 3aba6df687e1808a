"""The session table and the audit table, in the primary region with replicas in every other."""

from collections.abc import Mapping
from typing import TypedDict

from aws_cdk import CfnOutput, Duration, Environment, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kinesis as kinesis
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.audit_export import AuditExport
from infra.config import Config
from infra.config_values import Encryption, ExportSchedule
from session_store import schema

_ATTRIBUTE_TYPES = {"S": dynamodb.AttributeType.STRING, "N": dynamodb.AttributeType.NUMBER}


class _Common(TypedDict):
    partition_key: dynamodb.Attribute
    sort_key: dynamodb.Attribute
    billing: dynamodb.Billing
    dynamo_stream: dynamodb.StreamViewType
    time_to_live_attribute: str | None
    encryption: dynamodb.TableEncryptionV2
    deletion_protection: bool
    removal_policy: RemovalPolicy
    point_in_time_recovery_specification: dynamodb.PointInTimeRecoverySpecification
    replicas: list[dynamodb.ReplicaTableProps]


class DataStack(Stack):
    """``key_arns``: the customer-managed keys by region, if any."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        env: Environment,
        key_arns: Mapping[str, str],
    ) -> None:
        super().__init__(scope, construct_id, env=env, description="Session store: the tables")
        self._key = kms.Key.from_key_arn(self, "Key", key_arns[config.primary]) if key_arns else None
        common = _common(config, encryption=self._encryption(config, key_arns))
        self.changes = _changes(self, key=self._key) if config.kinesis_stream else None
        self.table = dynamodb.TableV2(
            self,
            "Sessions",
            table_name=config.table_name,
            global_secondary_indexes=[_index(index) for index in schema.INDEXES],
            # Only here: this replica gets all regions' writes, so a second stream would repeat them.
            kinesis_stream=self.changes,
            **common,
        )
        self.audit_table = dynamodb.TableV2(self, "Audit", table_name=config.audit_table_name, **common)
        self.audit_export = (
            None
            if config.audit_export is ExportSchedule.NONE
            else AuditExport(self, "AuditExport", config=config, table=self.audit_table, key=self._key)
        )
        if self.changes is not None:
            CfnOutput(self, "ChangesStreamName", value=self.changes.stream_name)
        if self.audit_export is not None:
            CfnOutput(self, "AuditExportBucketName", value=self.audit_export.bucket.bucket_name)
        CfnOutput(self, "TableName", value=self.table.table_name)
        CfnOutput(self, "AuditTableName", value=self.audit_table.table_name)

    def _encryption(self, config: Config, key_arns: Mapping[str, str]) -> dynamodb.TableEncryptionV2:
        if self._key is not None:
            of_replicas = {region: key_arns[region] for region in config.replicas}
            return dynamodb.TableEncryptionV2.customer_managed_key(self._key, of_replicas)
        if config.encryption is Encryption.AWS_MANAGED:
            return dynamodb.TableEncryptionV2.aws_managed_key()
        return dynamodb.TableEncryptionV2.dynamo_owned_key()


def _changes(scope: Construct, *, key: kms.IKey | None) -> kinesis.Stream:
    """A stream of all changes for consumers of the owner's own. It holds no data that is not in the table."""
    return kinesis.Stream(
        scope,
        "Changes",
        stream_mode=kinesis.StreamMode.ON_DEMAND,
        encryption=kinesis.StreamEncryption.MANAGED if key is None else kinesis.StreamEncryption.KMS,
        encryption_key=key,
        retention_period=Duration.hours(24),
        removal_policy=RemovalPolicy.DESTROY,
    )


def _common(config: Config, *, encryption: dynamodb.TableEncryptionV2) -> _Common:
    return {
        "partition_key": _key(schema.Attribute.PK),
        "sort_key": _key(schema.Attribute.SK),
        "billing": dynamodb.Billing.on_demand(),
        # From creation on: a consumer deployed later misses no change, and adding the first replica, which
        # needs the stream, is then the only change of its deployment.
        "dynamo_stream": dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
        # The emulator's TTL deletes items without the stream record that DynamoDB writes.
        "time_to_live_attribute": None if config.is_local else schema.Attribute.TTL.value,
        "encryption": encryption,
        "deletion_protection": config.retain,
        "removal_policy": config.removal,
        "point_in_time_recovery_specification": dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        "replicas": [dynamodb.ReplicaTableProps(region=region) for region in config.replicas],
    }


def _key(attribute: schema.Attribute) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=attribute.value, type=_ATTRIBUTE_TYPES[schema.KEY_TYPES[attribute]])


class _Projection(TypedDict, total=False):
    projection_type: dynamodb.ProjectionType
    non_key_attributes: list[str]


def _projection(index: schema.Index) -> _Projection:
    if not index.projected:
        return {"projection_type": dynamodb.ProjectionType.KEYS_ONLY}
    names = [attribute.value for attribute in index.projected]
    return {"projection_type": dynamodb.ProjectionType.INCLUDE, "non_key_attributes": names}


def _index(index: schema.Index) -> dynamodb.GlobalSecondaryIndexPropsV2:
    return dynamodb.GlobalSecondaryIndexPropsV2(
        index_name=index.name,
        partition_keys=[_key(attribute) for attribute in index.partition],
        sort_keys=[_key(attribute) for attribute in index.sort],
        **_projection(index),
    )
