"""The IAM policy of the local stack's operator, as operators would have it on AWS."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from infra import names
from local.credentials import REGION
from local.deployment import STAGE, Deployed
from local.ear import NAME_PREFIX
from local.emulator import ACCOUNT
from session_store.errors import ConfigurationError
from session_store.schema import QUARANTINE_PREFIX
from session_store.settings import RedriveSettings, read_redrive_settings

Statement = Mapping[str, object]

SECRET_ACTIONS: Final = (
    "secretsmanager:CreateSecret",
    "secretsmanager:DeleteSecret",
    "secretsmanager:DescribeSecret",
    "secretsmanager:PutSecretValue",
)
"""Storing credentials for sessions does not require reading them."""

RULE_ACTIONS: Final = (
    "events:DeleteRule",
    "events:DescribeRule",
    "events:ListTargetsByRule",
    "events:PutRule",
    "events:PutTargets",
    "events:RemoveTargets",
)
QUEUE_ACTIONS: Final = (
    "sqs:CreateQueue",
    "sqs:DeleteMessage",
    "sqs:DeleteQueue",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "sqs:ReceiveMessage",
    "sqs:SetQueueAttributes",
)
LETTER_ACTIONS: Final = (
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
)
WATCH_ACTIONS: Final = (
    "cloudwatch:DescribeAlarms",
    "cloudwatch:GetMetricData",
    "cloudwatch:ListMetrics",
    "logs:DescribeLogGroups",
    "logs:FilterLogEvents",
)
"""Actions without resources that could be named here."""

HISTORY_ACTIONS: Final = ("dynamodb:GetRecords", "dynamodb:GetShardIterator")


def operator_policy(deployed: Deployed, settings: Mapping[str, str]) -> Mapping[str, object]:
    """``settings``: the environment of the function behind the API."""
    redrive = read_redrive_settings(settings)
    if redrive is None:
        raise ConfigurationError("the API's function has no settings for dead-letter queues")
    statements = [
        *_asks(deployed),
        *_reads(deployed),
        _keeps_secrets(),
        *_listens(deployed),
        _allow(*WATCH_ACTIONS, on=["*"]),
        *_commands(deployed),
        *_redrives(redrive),
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def _asks(deployed: Deployed) -> Sequence[Statement]:
    stage = urlsplit(deployed.api_url).path.rpartition("/")[2]
    api = _arn("execute-api", f"{deployed.api_id}/{stage}")
    return [_allow("execute-api:Invoke", on=[f"{api}/{method}/ops/*" for method in ("GET", "POST")])]


def _reads(deployed: Deployed) -> Sequence[Statement]:
    tables = [_arn("dynamodb", f"table/{name}") for name in (deployed.table_name, deployed.audit_table_name)]
    indexes = f"{tables[0]}/index/*"
    return [_allow("dynamodb:GetItem", "dynamodb:Query", on=[*tables, indexes])]


def _keeps_secrets() -> Statement:
    return _allow(*SECRET_ACTIONS, on=[_arn("secretsmanager", f"secret:{names.credential_prefix(STAGE)}/*")])


def _listens(deployed: Deployed) -> Sequence[Statement]:
    bus = deployed.event_bus_name
    # The emulator authorizes a rule's targets by its bus.
    rules = [_arn("events", f"rule/{bus}/{NAME_PREFIX}*"), _arn("events", f"event-bus/{bus}")]
    return [_allow(*RULE_ACTIONS, on=rules), _allow(*QUEUE_ACTIONS, on=[_arn("sqs", f"{NAME_PREFIX}*")])]


def _commands(deployed: Deployed) -> Sequence[Statement]:
    """How the operators' commands find a deployment."""
    stack = _arn("cloudformation", f"stack/{names.regional_stack(STAGE, REGION)}/*")
    function = _arn("lambda", f"function:{deployed.api_function_name}")
    return [
        _allow("cloudformation:DescribeStacks", on=[stack]),
        _allow("lambda:GetFunctionConfiguration", on=[function]),
    ]


def _redrives(redrive: RedriveSettings) -> Sequence[Statement]:
    """As in ``infra/redrive.py`` for the API's function."""
    letters = [_queue(redrive.stream_dead_letters_url), _queue(redrive.cleanup_dead_letters_url)]
    quarantine = _allow("s3:ListBucket", on=[f"arn:aws:s3:::{redrive.quarantine_bucket}"])
    return [
        _allow(*LETTER_ACTIONS, on=letters),
        _allow("sqs:SendMessage", on=[_queue(redrive.cleanup_queue_url)]),
        _allow("lambda:InvokeFunction", on=[_arn("lambda", f"function:{redrive.consumer_function}")]),
        # The emulator authorizes requests to streams as if they named no resource.
        _allow(*HISTORY_ACTIONS, on=["*"]),
        {**quarantine, "Condition": {"StringEquals": {"s3:prefix": QUARANTINE_PREFIX}}},
    ]


def _queue(url: str) -> str:
    return _arn("sqs", url.rpartition("/")[2])


def _arn(service: str, resource: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}"


def _allow(*actions: str, on: Sequence[str]) -> Statement:
    return {"Effect": "Allow", "Action": list(actions), "Resource": list(on)}
