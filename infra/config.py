"""Every setting of a deployment, read once from CDK context and validated before any construct exists."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs

from infra import names
from infra.config_values import (
    ACCOUNT,
    AUDIENCE,
    CLAIM,
    CONSISTENCY,
    DAX_NODE,
    EMAIL,
    ENDPOINT,
    ISSUER,
    KEPT,
    LOG_RETENTION,
    RUNBOOK,
    SECRET,
    STAGE,
    Algorithm,
    Egress,
    Encryption,
    ExportSchedule,
    Profile,
    Target,
    algorithms,
    delegates,
    kept,
    log_retention,
    regions,
)
from infra.context import Context, between, each, flag, matching, member, optional
from infra.options import option, options, read, refuse_unknown
from infra.refusals import judge
from session_store.schema import PAYLOADS, Attribute, Callers

if TYPE_CHECKING:
    from constructs import Node

_MOST_DAX_NODES: Final = 11


def _whole(name: str, default: int, *, low: int, high: int, about: str) -> int:
    allowed = f"a whole number from {low} to {high}"
    return option(name, parse=between(low, high), allowed=allowed, default=default, about=about)


def _flag(name: str, *, dev: bool, prod: bool, about: str) -> bool:
    return option(name, parse=flag, allowed="true or false", dev=dev, prod=prod, about=about)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    stage: str = option(
        "stage",
        parse=matching(STAGE),
        allowed="lower-case letters and digits, a letter first, at most 20",
        default="dev",
        about="part of the names of stacks, tables, functions, queues and the bus",
    )
    profile: Profile = option(
        "profile",
        parse=member(Profile),
        allowed="dev or prod",
        dev="dev",
        prod="prod",
        about="which defaults apply; `prod` if the stage is `prod`",
    )
    regions: tuple[str, ...] = option(
        "regions",
        parse=regions,
        allowed="distinct AWS regions of one partition, from 1 to 10",
        default="us-east-1",
        about="the primary region first; with more than one, the tables are global tables",
    )
    account: str | None = option(
        "account",
        parse=optional(matching(ACCOUNT)),
        allowed="12 digits, or unset",
        default="",
        about="the AWS account; if unset, the CLI's own",
    )
    target: Target = option(
        "target",
        parse=member(Target),
        allowed="cloud or local",
        default="cloud",
        about="where it is deployed; `local` is the emulator on this machine",
    )

    # data
    retain: bool = _flag(
        "retain",
        dev=False,
        prod=True,
        about="tables, logs, buckets and keys outlive their stack; tables have deletion protection",
    )
    encryption: Encryption = option(
        "encryption",
        parse=member(Encryption),
        allowed="aws_owned, aws_managed or customer_managed",
        default="aws_owned",
        about="whose key encrypts data at rest; `customer_managed` creates one, replicated to each region",
    )
    consistency: str = option(
        "consistency",
        parse=matching(CONSISTENCY),
        allowed="eventual (a global table with strong consistency has neither TTL nor transactions)",
        default="eventual",
        about="consistency of the global tables",
    )
    status_shards: int = _whole(
        "statusShards", 4, low=1, high=64, about="partitions per status in the status/ttl index"
    )
    large_payloads: bool = _flag(
        "largePayloads",
        dev=True,
        prod=True,
        about="store payloads above 300 KB in a bucket; without it they are refused",
    )
    audit_retention_days: int = _whole(
        "auditRetentionDays", 90, low=1, high=3650, about="how long an audit row is kept"
    )
    audit_digested: tuple[Attribute, ...] = option(
        "auditDigested",
        parse=each(kept),
        allowed=f"a list of {', '.join(KEPT)}",
        default=list(PAYLOADS),
        about="attributes that the audit records only by size and SHA-256",
    )
    audit_export: ExportSchedule = option(
        "auditExport",
        parse=member(ExportSchedule),
        allowed="none, daily, weekly or monthly; an interval shorter than auditRetentionDays",
        default="none",
        about="how often the whole audit table is exported to a bucket",
    )
    audit_export_retention_days: int = _whole(
        "auditExportRetentionDays", 2557, low=1, high=36_500, about="how long an export is kept"
    )
    kinesis_stream: bool = _flag(
        "kinesisStream",
        dev=False,
        prod=False,
        about="also send every change of the session table to a Kinesis stream",
    )
    log_retention_days: int = option(
        "logRetentionDays",
        parse=log_retention,
        allowed=f"one of {', '.join(map(str, LOG_RETENTION))}",
        dev=7,
        prod=90,
        about="how long logs are kept",
    )

    # access
    auth: Callers = option(
        "auth",
        parse=member(Callers),
        allowed="iam or jwt",
        default="iam",
        about="how callers authenticate: `iam` by SigV4 signatures, `jwt` by bearer tokens of one issuer",
    )
    jwt_issuer: str | None = option(
        "jwtIssuer",
        parse=optional(matching(ISSUER)),
        allowed=(
            "an https URL without query (required with auth=jwt, else unset); "
            "with target=local also http on loopback"
        ),
        default="",
        about="the issuer of the tokens; has to equal their `iss` exactly",
    )
    jwt_audience: tuple[str, ...] = option(
        "jwtAudience",
        parse=each(matching(AUDIENCE)),
        allowed="a list of names without space (required with auth=jwt, else unset)",
        default="",
        about="audiences, one of which a token's `aud` has to contain",
    )
    jwt_jwks_uri: str | None = option(
        "jwtJwksUri",
        parse=optional(matching(ENDPOINT)),
        allowed="an https URL, only with auth=jwt, or unset; with target=local also http on loopback",
        default="",
        about="where the issuer's keys are; if unset, `<jwtIssuer>/.well-known/jwks.json`",
    )
    jwt_algorithms: tuple[Algorithm, ...] = option(
        "jwtAlgorithms",
        parse=algorithms,
        allowed=f"a list of {', '.join(Algorithm)}",
        default="RS256",
        about="accepted signature algorithms of tokens",
    )
    jwt_organisation_claim: str = option(
        "jwtOrganisationClaim",
        parse=matching(CLAIM),
        allowed="the name of a claim: up to 128 characters without space or comma",
        default="org_id",
        about="the claim that makes the tenant, together with the issuer",
    )
    delegates: tuple[str, ...] = option(
        "delegates",
        parse=delegates,
        allowed="a list of <account>:user/<name>, <account>:role/<name> or *; only with auth=iam",
        default="",
        about="principals that may name an end user in `Session-Subject`",
    )
    caller_accounts: tuple[str, ...] = option(
        "callerAccounts",
        parse=each(matching(ACCOUNT)),
        allowed="a list of 12-digit accounts; only with auth=iam",
        default="",
        about="other accounts whose principals may call, if their own policies allow it",
    )
    web_acl: bool = _flag("webAcl", dev=False, prod=True, about="an AWS WAF web ACL in front of the API")
    web_acl_rate: int = _whole(
        "webAclRate",
        10_000,
        low=10,
        high=20_000_000,
        about="requests that one address may send in five minutes before the web ACL blocks it",
    )
    throttling_rate: int = _whole(
        "throttlingRate", 500, low=1, high=10_000, about="requests per second that the API admits"
    )
    throttling_burst: int = _whole(
        "throttlingBurst", 1_000, low=1, high=10_000, about="requests that the API admits in a burst"
    )

    # sessions' ends
    cleanup_delay_seconds: int = _whole(
        "cleanupDelaySeconds",
        60,
        low=0,
        high=900,
        about="delay between the end of a session and its clean-up",
    )
    expiring_within_seconds: int = _whole(
        "expiringWithinSeconds",
        900,
        low=60,
        high=86_400,
        about="how long before its expiry a session is announced on the bus",
    )
    credential_prefix: str = option(
        "credentialPrefix",
        parse=matching(SECRET),
        allowed="the prefix of a secret's name, at most 128 characters, without a leading or trailing slash",
        default=names.credential_prefix("{stage}"),
        about="prefix of the secrets that sessions may name",
    )
    revocation_endpoint: str | None = option(
        "revocationEndpoint",
        parse=optional(matching(ENDPOINT)),
        allowed="an https URL, or unset; with target=local also http on loopback",
        default="",
        about="where the tokens in those secrets are revoked after a session's end (RFC 7009)",
    )
    revocation_client_secret: str | None = option(
        "revocationClientSecret",
        parse=optional(matching(SECRET)),
        allowed="a secret's name below the prefix, at most 128 characters, or unset",
        default="",
        about="secret with the client id and secret that the store sends to that endpoint",
    )

    # cache
    dax_nodes: int = _whole(
        "daxNodes",
        0,
        low=0,
        high=_MOST_DAX_NODES,
        about="nodes of the DAX cluster; 0 for none, 3 for production",
    )
    dax_node_type: str = option(
        "daxNodeType",
        parse=matching(DAX_NODE),
        allowed="a node type such as dax.t3.small",
        default="dax.t3.small",
        about="node type of the DAX cluster",
    )
    dax_record_ttl_seconds: int = _whole(
        "daxRecordTtlSeconds", 3, low=1, high=60, about="how long the cache keeps an item"
    )
    egress: Egress = option(
        "egress",
        parse=member(Egress),
        allowed="isolated or nat; nat where there are both DAX nodes and several regions",
        default="isolated",
        about="what the API's function can reach from the cache's VPC",
    )

    # monitoring
    alarm_topic: bool = _flag(
        "alarmTopic", dev=False, prod=True, about="send alarms to an SNS topic in each region"
    )
    alarm_emails: tuple[str, ...] = option(
        "alarmEmails",
        parse=each(matching(EMAIL)),
        allowed="a list of addresses; only with alarmTopic",
        default="",
        about="addresses subscribed to the topics",
    )
    runbook: str = option(
        "runbook",
        parse=matching(RUNBOOK),
        allowed="a path or URL of up to 200 characters, without space and #",
        default="docs/operations.md",
        about="where docs/operations.md is published; each alarm links to its section there",
    )
    route_metrics: bool = _flag(
        "routeMetrics",
        dev=False,
        prod=True,
        about="API Gateway's metrics by route, each billed by CloudWatch",
    )
    census_minutes: int = option(
        "censusMinutes",
        parse=between(0, 1_440),
        allowed="a whole number from 0 to 1440",
        dev=0,
        prod=60,
        about="how often living sessions are counted; 0 for never; each count is billed",
    )

    @property
    def primary(self) -> str:
        return self.regions[0]

    @property
    def replicas(self) -> tuple[str, ...]:
        """The regions other than the primary."""
        return self.regions[1:]

    @property
    def table_name(self) -> str:
        return names.session_table(self.stage)

    @property
    def audit_table_name(self) -> str:
        return names.audit_table(self.stage)

    @property
    def event_bus_name(self) -> str:
        return names.event_bus(self.stage)

    @property
    def jwks_uri(self) -> str:
        return self.jwt_jwks_uri or f"{(self.jwt_issuer or '').rstrip('/')}/.well-known/jwks.json"

    @property
    def log_retention(self) -> logs.RetentionDays:
        return LOG_RETENTION[self.log_retention_days]

    @property
    def removal(self) -> RemovalPolicy:
        return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if self.retain else RemovalPolicy.DESTROY

    @property
    def revokes(self) -> bool:
        """Whether the clean-up revokes tokens. Always in the local stack, which sets the endpoint later."""
        return self.revocation_endpoint is not None or self.is_local

    @property
    def is_local(self) -> bool:
        return self.target is Target.LOCAL

    @classmethod
    def from_context(cls, node: "Node") -> "Config":
        """Raises ``ConfigError`` for the first value that is not allowed."""
        declared = options(cls)
        refuse_unknown(node, known=[one.name for one in declared.values()])
        context = Context(node)

        def first(field: str, default: object) -> object:
            one = declared[field]
            return context.read(one.name, default, parse=one.parse, allowed=one.allowed)

        stage = str(first("stage", declared["stage"].dev))
        default = Profile.PROD if stage == "prod" else Profile.DEV
        profile = str(first("profile", default))
        config = cls(**read(cls, node, profile=profile, stage=stage))
        judge(config)
        return config
