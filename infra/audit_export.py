"""Scheduled exports of the whole audit table to a bucket, which outlive the table's rows."""

from typing import Final

from aws_cdk import Duration, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_scheduler as scheduler
from aws_cdk import aws_scheduler_targets as targets
from constructs import Construct

from infra import names
from infra.alarms import Alarms
from infra.buckets import bucket
from infra.config import Config
from infra.config_values import ExportSchedule
from infra.queues import queue

PREFIX: Final = "audit"
COLD_AFTER_DAYS: Final = 30
COLD_AT_LEAST_DAYS: Final = 90
"""Minimum storage duration that Glacier Instant Retrieval bills."""

UNDONE_DAYS: Final = 30
"""How long a deleted or overwritten export can be recovered."""

WRITE_ACTIONS: Final = ("s3:AbortMultipartUpload", "s3:PutObject", "s3:PutObjectAcl")
KEY_ACTIONS: Final = ("kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey")
KEY_SERVICES: Final = ("dynamodb", "s3", "sqs")
ATTEMPTS: Final = 5
MOST_AGE: Final = Duration.hours(2)
"""Of one run. Its client token makes the export idempotent for eight hours."""

SCHEDULES: Final = {
    ExportSchedule.DAILY: scheduler.ScheduleExpression.cron(minute="15", hour="3"),
    ExportSchedule.WEEKLY: scheduler.ScheduleExpression.cron(minute="15", hour="3", week_day="SUN"),
    ExportSchedule.MONTHLY: scheduler.ScheduleExpression.cron(minute="15", hour="3", day="1"),
}


class AuditExport(Construct):
    """Each export is a full one, so it can be read without any other."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        table: dynamodb.ITableV2,
        key: kms.IKey | None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._key = key
        self.bucket = _bucket(self, config, key=key)
        self.dead_letters = queue(self, "DeadLetters", config=config, key=key, name=names.EXPORT_DEAD_LETTERS)
        scheduler.Schedule(
            self,
            "Schedule",
            description="Session store: export the audit table",
            schedule=SCHEDULES[config.audit_export],
            target=targets.Universal(
                service="dynamodb",
                action="exportTableToPointInTime",
                input=scheduler.ScheduleTargetInput.from_object(self._request(table)),
                policy_statements=[
                    iam.PolicyStatement(
                        actions=["dynamodb:ExportTableToPointInTime"], resources=[table.table_arn]
                    ),
                    iam.PolicyStatement(
                        actions=list(WRITE_ACTIONS), resources=[self.bucket.arn_for_objects(f"{PREFIX}/*")]
                    ),
                    *self._key_statements(),
                ],
                dead_letter_queue=self.dead_letters,
                retry_attempts=ATTEMPTS,
                max_event_age=MOST_AGE,
            ),
        )

    def watch(self, alarms: Alarms) -> None:
        """With a runbook section of its own: redrive does not cover these letters."""
        alarms.on_depth(
            self.dead_letters,
            "audit-export",
            says="an export of the audit table could not be started",
            section=names.EXPORT_DEAD_LETTERS,
        )

    def _request(self, table: dynamodb.ITableV2) -> dict[str, str]:
        return {
            "TableArn": table.table_arn,
            "S3Bucket": self.bucket.bucket_name,
            "S3BucketOwner": Stack.of(self).account,
            "S3Prefix": PREFIX,
            **self._encryption(),
            "ExportFormat": "DYNAMODB_JSON",
            # The same in every attempt of a run.
            "ClientToken": scheduler.ContextAttribute.scheduled_time,
        }

    def _encryption(self) -> dict[str, str]:
        if self._key is None:
            return {"S3SseAlgorithm": "AES256"}
        return {"S3SseAlgorithm": "KMS", "S3SseKmsKeyId": self._key.key_arn}

    def _key_statements(self) -> list[iam.PolicyStatement]:
        """The services that read the table and write objects and dead letters use the key with the schedule's
        role.
        """
        if self._key is None:
            return []
        region = Stack.of(self).region
        services = [f"{service}.{region}.amazonaws.com" for service in KEY_SERVICES]
        return [
            iam.PolicyStatement(
                actions=list(KEY_ACTIONS),
                resources=[self._key.key_arn],
                conditions={"StringEquals": {"kms:ViaService": services}},
            )
        ]


def _bucket(scope: Construct, config: Config, *, key: kms.IKey | None) -> s3.Bucket:
    """Versioned but not locked: a lock cannot be undone, so it is left to the account's owner."""
    kept = config.audit_export_retention_days
    cold = s3.Transition(
        storage_class=s3.StorageClass.GLACIER_INSTANT_RETRIEVAL,
        transition_after=Duration.days(COLD_AFTER_DAYS),
    )
    return bucket(
        scope,
        "Bucket",
        config=config,
        key=key,
        versioned=True,
        lifecycle=[
            s3.LifecycleRule(
                expiration=Duration.days(kept),
                noncurrent_version_expiration=Duration.days(UNDONE_DAYS),
                abort_incomplete_multipart_upload_after=Duration.days(1),
                transitions=[cold] if kept >= COLD_AFTER_DAYS + COLD_AT_LEAST_DAYS else None,
            )
        ],
    )
