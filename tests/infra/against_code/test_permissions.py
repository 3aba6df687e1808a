"""A function may do what it does, where it does it, and nothing else."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from infra.key_use import BOTH_WAYS
from infra.logged_function import INTERFACE_ACTIONS
from session_store.schema import BusEnv, Env, PayloadEnv, RedriveEnv, StreamEnv
from tests.infra.against_code.conftest import Driven, packages, variables
from tests.infra.conftest import HASH, Synthesized, as_text
from tests.support.aws_calls import Permission, used
from tests.support.driven import DRIVES
from tests.support.ground import Ground

NAMED_BY: Mapping[str, tuple[str, ...]] = {
    "dynamodb": (Env.TABLE_NAME, Env.AUDIT_TABLE_NAME),
    "events": (BusEnv.EVENT_BUS_NAME,),
    "lambda": (RedriveEnv.CONSUMER_FUNCTION,),
    "s3": (StreamEnv.QUARANTINE_BUCKET, PayloadEnv.PAYLOAD_BUCKET),
    "sqs": (
        RedriveEnv.STREAM_DEAD_LETTERS_URL,
        RedriveEnv.CLEANUP_DEAD_LETTERS_URL,
        StreamEnv.CLEANUP_QUEUE_URL,
    ),
}
"""The variables that tell a function which resources of a service are its own."""

CDKS_OWN = {"sqs:ChangeMessageVisibility", "sqs:GetQueueUrl"}
"""What CDK's event source grants on a queue beside what Lambda needs to read it."""

BESIDE_SENDING = {"sqs:GetQueueAttributes", "sqs:GetQueueUrl"}
"""And its destination, beside what Lambda needs to send there."""

KEY_USE = {
    "s3:GetObject": {"kms:Decrypt"},
    "s3:PutObject": {"kms:GenerateDataKey"},
    "sqs:ReceiveMessage": {"kms:Decrypt"},
    "sqs:SendMessage": {"kms:Decrypt", "kms:GenerateDataKey"},
}
"""What the caller of each action must be allowed with the key that the resource is under.

Amazon S3 User Guide, *Using server-side encryption with AWS KMS keys*; Amazon SQS Developer Guide, *Key
management*. Every function is on a table.
"""


def test_every_function_of_the_template_has_a_drive(every: Synthesized) -> None:
    for region in every.regions:
        missing = set(packages(every, region=region)) - set(DRIVES)
        assert not missing, (
            f"write a drive for {missing} in tests/support/driven.py: what does it use of AWS?"
        )


def test_what_a_function_does_is_allowed(every: Synthesized, drive: Driven, ground: Ground) -> None:
    refused = {
        (region, package, one.action, one.resource)
        for region in every.regions
        for package in packages(every, region=region)
        for one in told(used(drive(every, package)), every, package, ground, region=region)
        if not any(covers(granted, one) for granted in grants(every, package, region=region))
    }
    assert refused == set()


def test_what_is_allowed_is_done(every: Synthesized, drive: Driven, ground: Ground) -> None:
    superfluous = set()
    for region in every.regions:
        for package in packages(every, region=region):
            done = {
                *told(used(drive(every, package)), every, package, ground, region=region),
                *done_by_aws(every, package, region=region),
            }
            superfluous |= {
                (region, package, granted.action, granted.resource)
                for granted in grants(every, package, region=region)
                if not granted.action.startswith("kms:") and not any(covers(granted, one) for one in done)
            }
    assert superfluous == set()


def test_a_key_is_used_through_the_services_that_are_called_and_for_what_they_do_with_it(
    optional_sealed: Synthesized, drive: Driven
) -> None:
    (region,) = optional_sealed.regions
    for package in packages(optional_sealed, region=region):
        done = {one.action for one in used(drive(optional_sealed, package))}
        done |= {one.action for one in done_by_aws(optional_sealed, package, region=region)}
        needed: dict[str, set[str]] = {}
        for action, uses in KEY_USE.items():
            if action in done:
                needed.setdefault(action.partition(":")[0], set()).update(uses)
        granted = {
            statement["Condition"]["StringEquals"]["kms:ViaService"].partition(".")[0]: statement["Action"]
            for statement in optional_sealed.statements(optional_sealed.function(package), region=region)
            if "kms:" in str(statement["Action"])
        }
        assert granted.pop("dynamodb") == list(BOTH_WAYS)
        spelled = {service: {a} if isinstance(a, str) else set(a) for service, a in granted.items()}
        assert spelled == needed, package


def test_no_call_outlasts_its_function(dev: Synthesized, drive: Driven) -> None:
    outlasting = {
        (package, call.service, call.operation, call.longest)
        for package in packages(dev, region="us-east-1")
        for call in drive(dev, package).made
        if call.longest >= dev.function(package)["Timeout"]
    }
    assert outlasting == set()


def covers(granted: Permission, one: Permission) -> bool:
    return granted.action == one.action and fnmatchcase(one.resource, granted.resource)


def grants(synthesized: Synthesized, package: str, *, region: str) -> set[Permission]:
    return {
        Permission(action, resource)
        for resource, actions in synthesized.allowed(package, region=region).items()
        for action in actions
    }


def told(
    done: set[Permission], synthesized: Synthesized, package: str, ground: Ground, *, region: str
) -> Iterator[Permission]:
    """What was done in the emulator, told of the template's resources."""
    config = synthesized.deployment.config
    place = f"{region}:{config.account or '<AWS::AccountId>'}"
    environment = variables(synthesized.function(package, region=region))
    for one in done:
        service = one.action.partition(":")[0]
        if service == "secretsmanager":
            yield Permission(one.action, f"arn:aws:secretsmanager:{place}:secret:{one.resource}-AbCdEf")
            continue
        here = one.resource.rpartition(":table/")[2] if service == "dynamodb" else one.resource
        found = [
            environment[name] + here.removeprefix(ground.stands_for[name])
            for name in NAMED_BY[service]
            if name in environment and f"{here}/".startswith(f"{ground.stands_for[name]}/")
        ]
        assert found, f"{package} uses {one}, which nothing in its environment names"
        if service == "dynamodb":
            yield Permission(one.action, f"arn:aws:dynamodb:{place}:table/{found[0]}")
        else:
            yield Permission(one.action, found[0].replace(">", ".Arn>", 1))


def done_by_aws(synthesized: Synthesized, package: str, *, region: str) -> Iterator[Permission]:
    """What Lambda does in the function's name."""
    function = synthesized.function(package, region=region)
    log_group = as_text(function["LoggingConfig"]["LogGroup"]).replace(">", ".Arn>")
    for action in ("logs:CreateLogStream", "logs:PutLogEvents"):
        yield Permission(action, log_group)
    if "VpcConfig" in function:
        for action in INTERFACE_ACTIONS:
            yield Permission(action, "*")
    if function["TracingConfig"]["Mode"] == "Active":
        for action in ("xray:PutTelemetryRecords", "xray:PutTraceSegments"):
            yield Permission(action, "*")
    for mapping in synthesized.properties("AWS::Lambda::EventSourceMapping", region=region):
        if as_text(mapping["FunctionName"]) == f"<{logical_name(synthesized, package, region=region)}>":
            yield from _done_by_mapping(mapping)


def logical_name(synthesized: Synthesized, package: str, *, region: str) -> str:
    (name,) = (
        name
        for name, function in synthesized.resources("AWS::Lambda::Function", region=region).items()
        if function["Properties"]["Handler"] == f"{package}.handler.handler"
    )
    return HASH.sub("", name.rpartition("/")[2])


def _done_by_mapping(mapping: Mapping[str, Any]) -> Iterator[Permission]:
    """AWS Lambda Developer Guide: the execution role of an event source of DynamoDB, and of SQS."""
    source = as_text(mapping["EventSourceArn"])
    if "StartingPosition" in mapping:
        for action in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"):
            yield Permission(f"dynamodb:{action}", source)
        letters = as_text(mapping["DestinationConfig"]["OnFailure"]["Destination"])
        for action in {"sqs:SendMessage"} | BESIDE_SENDING:
            yield Permission(action, letters)
    else:
        reading = {f"sqs:{action}" for action in ("DeleteMessage", "GetQueueAttributes", "ReceiveMessage")}
        for action in reading | CDKS_OWN:
            yield Permission(action, source)
