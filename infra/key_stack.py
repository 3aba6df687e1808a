"""The key that encrypts data at rest in one region, in a stack that is deployed before all others.

The primary region has the key itself, every other region a replica: a multi-Region key, with the same key
material and one id.
"""

from typing import Final

from aws_cdk import Environment, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra import names
from infra.config import Config
from infra.key_use import BOTH_WAYS

ALARM_ACTIONS: Final = ("kms:Decrypt", "kms:GenerateDataKey")


class KeyStack(Stack):
    """``primary`` is the stack of the primary region, or None if this is it."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        env: Environment,
        primary: "KeyStack | None",
    ) -> None:
        super().__init__(scope, construct_id, env=env, description="Session store: the key of one region")
        if primary is None:
            self.key_arn = self._primary_key(config)
        else:
            self.key_arn = self._replica_key(config, of=primary.key_arn)
        alias = kms.CfnAlias(
            self, "Alias", alias_name=f"alias/session-store-{config.stage}", target_key_id=self.key_arn
        )
        # A retained alias would block the next stack of this stage; a retained key can be found by its id.
        alias.apply_removal_policy(RemovalPolicy.DESTROY)

    def _primary_key(self, config: Config) -> str:
        key = kms.Key(
            self,
            "Key",
            description=_description(config),
            multi_region=True,
            enable_key_rotation=True,
            policy=self._policy(config),
            removal_policy=config.removal,
        )
        return key.key_arn

    def _replica_key(self, config: Config, *, of: str) -> str:
        """It rotates together with the primary key, but has its own policy."""
        key = kms.CfnReplicaKey(
            self,
            "Key",
            description=_description(config),
            primary_key_arn=of,
            key_policy=self._policy(config),
        )
        key.apply_removal_policy(config.removal)
        return key.attr_arn

    def _policy(self, config: Config) -> iam.PolicyDocument:
        """Roles get access to the key by their own policies; services without a role get it here."""
        account = {"aws:SourceAccount": self.account}
        alarms = self._arn("cloudwatch", f"alarm:session-store-{config.stage}-*")
        groups = (
            f"{names.regional_stack(config.stage, self.region)}-*",
            f"{names.cache_stack(config.stage, self.region)}-*",
            names.web_acl_logs(config.stage),
        )
        logs = [self._arn("logs", f"log-group:{group}") for group in groups]
        return iam.PolicyDocument(
            statements=[
                iam.PolicyStatement(
                    sid="Policies",
                    actions=["kms:*"],
                    resources=["*"],
                    principals=[iam.AccountRootPrincipal()],
                ),
                iam.PolicyStatement(
                    sid="Alarms",
                    actions=list(ALARM_ACTIONS),
                    resources=["*"],
                    principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                    conditions={"StringEquals": account, "ArnLike": {"aws:SourceArn": alarms}},
                ),
                iam.PolicyStatement(
                    sid="Logs",
                    actions=list(BOTH_WAYS),
                    resources=["*"],
                    principals=[iam.ServicePrincipal(f"logs.{self.region}.amazonaws.com")],
                    conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": logs}},
                ),
            ]
        )

    def _arn(self, service: str, resource: str) -> str:
        return f"arn:{self.partition}:{service}:{self.region}:{self.account}:{resource}"


def _description(config: Config) -> str:
    return f"Session store, stage {config.stage}: data at rest"
