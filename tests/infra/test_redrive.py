"""The API function may do with dead letters what redrive does, no more, and is told where they lie."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from aws_cdk.assertions import Template

from infra.config import Config
from infra.names import API_FUNCTION_OUTPUT
from infra.redrive import DeadLetterPlaces, connect_redrive
from session_store.schema import RedriveEnv, StreamEnv
from session_store.settings import read_redrive_settings

Resources = Mapping[str, Mapping[str, Any]]


def synthesized(**context: str) -> Mapping[str, Any]:
    app = App(context={"stage": "dev", **context})
    stack = Stack(app, "Redrive")
    role = iam.Role(stack, "ApiRole", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    connect_redrive(
        stack,
        _function(stack, "Api", role=role),
        places=DeadLetterPlaces(
            stream_dead_letters=sqs.Queue(stack, "StreamLetters"),
            cleanup_dead_letters=sqs.Queue(stack, "CleanupLetters"),
            cleanup_queue=sqs.Queue(stack, "Cleanup"),
            consumer=_function(stack, "Consumer"),
            quarantine=s3.Bucket(stack, "Quarantine"),
        ),
        config=Config.from_context(app.node),
    )
    made: Mapping[str, Any] = Template.from_stack(stack).to_json()
    return made


@pytest.fixture(scope="module")
def template() -> Mapping[str, Any]:
    return synthesized()


def _function(stack: Stack, name: str, *, role: iam.IRole | None = None) -> lambda_.Function:
    return lambda_.Function(
        stack,
        name,
        runtime=lambda_.Runtime.PYTHON_3_13,
        handler="index.handler",
        code=lambda_.Code.from_inline("def handler(event, context): ..."),
        role=role,
    )


def logical_id(template: Mapping[str, Any], name: str) -> str:
    (found,) = (key for key in template["Resources"] if key.removeprefix(name)[:-8] == "")
    return str(found)


def statements(template: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::IAM::Policy":
            yield from resource["Properties"]["PolicyDocument"]["Statement"]


def allowed(template: Mapping[str, Any], name: str) -> set[str]:
    """The actions allowed on a resource of the stack, or on what its text is part of."""
    wanted = name if ":" in name or "/" in name else f'"{logical_id(template, name)}"'
    found: set[str] = set()
    for statement in statements(template):
        if wanted in json.dumps(statement["Resource"]):
            actions = statement["Action"]
            found |= {actions} if isinstance(actions, str) else set(actions)
    return found


LETTERS = {
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
}


@pytest.mark.parametrize(
    ("name", "actions"),
    [
        ("StreamLetters", LETTERS),
        ("CleanupLetters", LETTERS),
        ("Cleanup", {"sqs:SendMessage"}),
        ("Consumer", {"lambda:InvokeFunction"}),
        ("Quarantine", {"s3:ListBucket"}),
        (":table/session-store-dev/stream/*", {"dynamodb:GetRecords", "dynamodb:GetShardIterator"}),
    ],
)
def test_the_function_may_do_this_with_it_and_nothing_else(
    template: Mapping[str, Any], name: str, actions: set[str]
) -> None:
    assert allowed(template, name) == actions


def test_nothing_else_is_granted_and_to_nobody_else(template: Mapping[str, Any]) -> None:
    assert len(list(statements(template))) == 5
    (policy,) = (r for r in template["Resources"].values() if r["Type"] == "AWS::IAM::Policy")
    assert policy["Properties"]["Roles"] == [{"Ref": logical_id(template, "ApiRole")}]


def test_of_the_bucket_only_the_quarantine_may_be_listed(template: Mapping[str, Any]) -> None:
    (listing,) = (s for s in statements(template) if s["Action"] == "s3:ListBucket")
    assert listing["Condition"] == {"StringEquals": {"s3:prefix": "quarantine/"}}


def test_the_function_is_told_all_that_redrive_reads(template: Mapping[str, Any]) -> None:
    function = template["Resources"][logical_id(template, "Api")]["Properties"]
    variables = function["Environment"]["Variables"]
    assert variables == {
        RedriveEnv.STREAM_DEAD_LETTERS_URL: {"Ref": logical_id(template, "StreamLetters")},
        RedriveEnv.CLEANUP_DEAD_LETTERS_URL: {"Ref": logical_id(template, "CleanupLetters")},
        RedriveEnv.CONSUMER_FUNCTION: {"Ref": logical_id(template, "Consumer")},
        StreamEnv.CLEANUP_QUEUE_URL: {"Ref": logical_id(template, "Cleanup")},
        StreamEnv.QUARANTINE_BUCKET: {"Ref": logical_id(template, "Quarantine")},
    }
    assert read_redrive_settings({name: value["Ref"] for name, value in variables.items()}) is not None


def test_the_command_for_operators_finds_the_function(template: Mapping[str, Any]) -> None:
    assert template["Outputs"][API_FUNCTION_OUTPUT]["Value"] == {"Ref": logical_id(template, "Api")}


def test_the_emulator_knows_no_stream_of_a_request(template: Mapping[str, Any]) -> None:
    local = synthesized(target="local")
    unbounded = [s["Action"] for s in statements(local) if s["Resource"] == "*"]
    assert unbounded == [["dynamodb:GetRecords", "dynamodb:GetShardIterator"]]
    assert not [s for s in statements(template) if s["Resource"] == "*"]
