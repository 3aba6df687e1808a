"""Each function may do what it does and no more: every action is spelled, by the resource it is for."""

from collections.abc import Mapping

import pytest

from tests.infra.conftest import PACKAGES, REGIONS, Synthesized

EACH_FUNCTION = pytest.mark.parametrize("package", PACKAGES)

LOG = {"logs:CreateLogStream", "logs:PutLogEvents"}
TRACING = {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
"""They know no resource."""

HISTORY = {"dynamodb:GetRecords", "dynamodb:GetShardIterator"}
LETTERS = {
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
}

TABLE = "{table}"
INDEXES = "{table}/index/*"
STREAMS = "{table}/stream/*"
AUDIT = "{audit}"
SECRETS = "{secrets}"
STREAM = "{stream}"

GRANTS: Mapping[str, Mapping[str, set[str]]] = {
    "session_api": {
        "*": TRACING,
        "<SessionApiLogs.Arn>": LOG,
        TABLE: {
            "dynamodb:BatchGetItem",
            "dynamodb:DeleteItem",
            "dynamodb:GetItem",
            "dynamodb:PutItem",
            "dynamodb:Query",
            "dynamodb:UpdateItem",
        },
        INDEXES: {"dynamodb:Query"},
        AUDIT: {"dynamodb:PutItem", "dynamodb:Query"},
        "<AuditConsumerDeadLetters.Arn>": LETTERS,
        "<CleanupQueueDeadLetters.Arn>": LETTERS,
        "<CleanupQueue.Arn>": {"sqs:SendMessage"},
        "<AuditConsumerFunction.Arn>": {"lambda:InvokeFunction"},
        STREAMS: HISTORY,
        "<Quarantine.Arn>": {"s3:ListBucket"},
        "<PayloadsBucket.Arn>/*": {"s3:GetObject", "s3:PutObject"},
    },
    "audit_consumer": {
        "*": TRACING,
        "<AuditConsumerLogs.Arn>": LOG,
        AUDIT: {"dynamodb:PutItem"},
        "<CleanupQueue.Arn>": {"sqs:SendMessage"},
        "<Quarantine.Arn>/quarantine/*": {"s3:PutObject"},
        # Lambda sends in the function's name what it gives up.
        "<AuditConsumerDeadLetters.Arn>": {
            "sqs:GetQueueAttributes",
            "sqs:GetQueueUrl",
            "sqs:SendMessage",
        },
        # And reads the stream so; a grant of ListStreams may name the stream.
        STREAM: {
            "dynamodb:DescribeStream",
            "dynamodb:GetRecords",
            "dynamodb:GetShardIterator",
            "dynamodb:ListStreams",
        },
    },
    "expiry_cleanup": {
        "*": TRACING,
        "<ExpiryCleanupLogs.Arn>": LOG,
        TABLE: {"dynamodb:BatchWriteItem", "dynamodb:GetItem", "dynamodb:Query"},
        AUDIT: {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"},
        SECRETS: {"secretsmanager:GetSecretValue"},
        "<PayloadsBucket.Arn>": {"s3:ListBucket"},
        "<PayloadsBucket.Arn>/*": {"s3:DeleteObject"},
        "<EventsBus.Arn>": {"events:PutEvents"},
        "<CleanupQueue.Arn>": {
            "sqs:ChangeMessageVisibility",
            "sqs:DeleteMessage",
            "sqs:GetQueueAttributes",
            "sqs:GetQueueUrl",
            "sqs:ReceiveMessage",
        },
    },
    "expiry_watch": {
        "*": TRACING,
        "<ExpiryWatchLogs.Arn>": LOG,
        TABLE: {"dynamodb:UpdateItem"},
        INDEXES: {"dynamodb:Query"},
        "<EventsBus.Arn>": {"events:PutEvents"},
    },
    "heartbeat": {
        "*": TRACING,
        "<HeartbeatLogs.Arn>": LOG,
        TABLE: {"dynamodb:PutItem"},
    },
    "session_census": {
        "*": TRACING,
        "<SessionCensusLogs.Arn>": LOG,
        INDEXES: {"dynamodb:Query"},
    },
}


def named(grants: Mapping[str, set[str]], synthesized: Synthesized, *, region: str) -> dict[str, set[str]]:
    """The grants as one region of a configuration has them."""
    config = synthesized.deployment.config
    place = f"{region}:{config.account or '<AWS::AccountId>'}"
    tables = f"arn:aws:dynamodb:{place}:table"
    names = {
        "table": f"{tables}/{config.table_name}",
        "audit": f"{tables}/{config.audit_table_name}",
        "secrets": f"arn:aws:secretsmanager:{place}:secret:session-store/{config.stage}/*",
        "stream": (
            f"<SessionStore-{config.stage}-Data.PublishOutputFnGetAttSessionsStreamArn>"
            if region == config.primary
            else "<StreamOfReplica.Table.LatestStreamArn>"
        ),
    }
    return {resource.format(**names): actions for resource, actions in grants.items()}


@EACH_FUNCTION
def test_a_function_may_do_this_in_its_region_and_nothing_else(prod: Synthesized, package: str) -> None:
    for region in REGIONS:
        expected = named(GRANTS[package], prod, region=region)
        assert prod.allowed(package, region=region) == expected


@EACH_FUNCTION
def test_a_stack_of_no_account_grants_the_same(dev: Synthesized, package: str) -> None:
    assert dev.allowed(package) == named(GRANTS[package], dev, region="us-east-1")


@EACH_FUNCTION
def test_the_emulator_is_told_the_same_but_for_the_streams_of_letters(
    local: Synthesized, package: str
) -> None:
    expected = dict(GRANTS[package])
    if package == "session_api":
        expected["*"] = TRACING | expected.pop(STREAMS)
    assert local.allowed(package) == named(expected, local, region="us-east-1")


@EACH_FUNCTION
def test_no_action_is_a_wildcard(every: Synthesized, package: str) -> None:
    for region in every.regions:
        for actions in every.allowed(package, region=region).values():
            assert not [action for action in actions if "*" in action]


def test_the_listing_and_the_heartbeat_are_granted_under_conditions_and_the_key(every: Synthesized) -> None:
    for region in every.regions:
        conditions = [
            (package, statement["Action"], statement["Condition"])
            for package in PACKAGES
            for statement in every.statements(every.function(package, region=region), region=region)
            if "Condition" in statement and "kms:" not in str(statement["Action"])
        ]
        below = {"StringEquals": {"s3:prefix": "quarantine/"}}
        own = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [f"heartbeat#{region}"]}}
        assert conditions == [
            ("session_api", "s3:ListBucket", below),
            ("heartbeat", "dynamodb:PutItem", own),
        ]


def test_no_role_of_a_function_has_a_policy_that_is_not_its_own(every: Synthesized) -> None:
    for region in every.regions:
        roles = [
            role
            for role in every.properties("AWS::IAM::Role", region=region)
            if "lambda" in str(role["AssumeRolePolicyDocument"])
        ]
        # CDK's function, which looks a replica's stream up, has one too.
        assert len(roles) == len(PACKAGES) + (region != every.regions[0])
        assert not [role for role in roles if {"ManagedPolicyArns", "Policies"} & set(role)]
