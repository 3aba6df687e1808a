"""The IAM policy of the local operator, as operators would need it on AWS."""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from infra import names
from local.credentials import REGION
from local.deployment import STAGE, Deployed
from local.emulator import ACCOUNT
from local.event_listener import NAME_PREFIX
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
"""To manage credentials for sessions, without reading them."""

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
"""These actions support no resource that could be named here."""

HISTORY_ACTIONS: Final = ("dynamodb:GetRecords", "dynamodb:GetShardIterator")


def operator_policy(deployed: Deployed, settings: Mapping[str, str]) -> Mapping[str, object]:
    """Build the policy; ``settings`` is the environment of the API's function."""
    redrive = read_redrive_settings(settings)
    if redrive is None:
        raise ConfigurationError("the environment of the API's function names no dead-letter queues")
    statements = [
        *_calls_api(deployed),
        *_reads_tables(deployed),
        _manages_secrets(),
        *_listens_to_events(deployed),
        _allow(*WATCH_ACTIONS, on=["*"]),
        *_runs_commands(deployed),
        *_redrives(redrive),
    ]
    return {"Version": "2012-10-17", "Statement": statements}


def _calls_api(deployed: Deployed) -> Sequence[Statement]:
    stage = urlsplit(deployed.api_url).path.rpartition("/")[2]
    api = _arn("execute-api", f"{deployed.api_id}/{stage}")
    return [_allow("execute-api:Invoke", on=[f"{api}/{method}/ops/*" for method in ("GET", "POST")])]


def _reads_tables(deployed: Deployed) -> Sequence[Statement]:
    tables = [_arn("dynamodb", f"table/{name}") for name in (deployed.table_name, deployed.audit_table_name)]
    indexes = f"{tables[0]}/index/*"
    return [_allow("dynamodb:GetItem", "dynamodb:Query", on=[*tables, indexes])]


def _manages_secrets() -> Statement:
    return _allow(*SECRET_ACTIONS, on=[_arn("secretsmanager", f"secret:{names.credential_prefix(STAGE)}/*")])


def _listens_to_events(deployed: Deployed) -> Sequence[Statement]:
    bus = deployed.event_bus_name
    # The emulator checks a rule's targets against its bus.
    rules = [_arn("events", f"rule/{bus}/{NAME_PREFIX}*"), _arn("events", f"event-bus/{bus}")]
    return [_allow(*RULE_ACTIONS, on=rules), _allow(*QUEUE_ACTIONS, on=[_arn("sqs", f"{NAME_PREFIX}*")])]


def _runs_commands(deployed: Deployed) -> Sequence[Statement]:
    """For the commands of ``ops`` to find the deployment's resources."""
    stack = _arn("cloudformation", f"stack/{names.regional_stack(STAGE, REGION)}/*")
    function = _arn("lambda", f"function:{deployed.api_function_name}")
    return [
        _allow("cloudformation:DescribeStacks", on=[stack]),
        _allow("lambda:GetFunctionConfiguration", on=[function]),
    ]


def _redrives(redrive: RedriveSettings) -> Sequence[Statement]:
    """As ``infra/redrive.py`` grants it to the API's function."""
    letters = [_queue(redrive.stream_dead_letters_url), _queue(redrive.cleanup_dead_letters_url)]
    quarantine = _allow("s3:ListBucket", on=[f"arn:aws:s3:::{redrive.quarantine_bucket}"])
    return [
        _allow(*LETTER_ACTIONS, on=letters),
        _allow("sqs:SendMessage", on=[_queue(redrive.cleanup_queue_url)]),
        _allow("lambda:InvokeFunction", on=[_arn("lambda", f"function:{redrive.consumer_function}")]),
        # The emulator checks requests to streams as if they named none.
        _allow(*HISTORY_ACTIONS, on=["*"]),
        {**quarantine, "Condition": {"StringEquals": {"s3:prefix": QUARANTINE_PREFIX}}},
    ]


def _queue(url: str) -> str:
    return _arn("sqs", url.rpartition("/")[2])


def _arn(service: str, resource: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}"


def _allow(*actions: str, on: Sequence[str]) -> Statement:
    return {"Effect": "Allow", "Action": list(actions), "Resource": list(on)}
