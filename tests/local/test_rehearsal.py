"""A deployment rehearsed by the real CDK CLI: bootstrap, deploy, diff, destroy, deploy, update, destroy.

The emulator takes TTL, recovery, encryption and protection without doing anything with them; that the
templates ask for them is shown in tests/infra.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from infra import names
from local.credentials import REGION
from local.deployment import STAGE, Cdk, deployable
from local.emulator import Emulator, running
from local.loopback import free_port
from local.signed_http import Answer, Api
from local.streams.templates import Stack, read_stacks, stream_mappings
from session_store.schema import Env
from tests.support.calls import create, read
from tests.support.rehearsal import LISTED, Rehearsal, Seen, inventory, new_in

CHANGED = (names.data_stack(STAGE), names.regional_stack(STAGE, REGION))
DASHBOARD = names.dashboard_stack(STAGE)
UPDATE = {"throttlingBurst": "77", "auditRetentionDays": "30", "retain": "true"}
"""A setting of the API's stage, one of the functions' environment, and what becomes of it all."""

OF_ANOTHER = {
    "AWS::ApiGateway::Account",
    "AWS::ApiGateway::Deployment",
    "AWS::ApiGateway::GatewayResponse",
    "AWS::ApiGateway::Method",
    "AWS::ApiGateway::Model",
    "AWS::ApiGateway::RequestValidator",
    "AWS::ApiGateway::Resource",
    "AWS::ApiGateway::Stage",
    "AWS::CDK::Metadata",
    "AWS::IAM::Policy",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::Lambda::Permission",
}
"""Types that are part of another resource, and go with it."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """What the deployed functions and API answer at a step."""

    throttling_burst: int
    environments: Mapping[str, Mapping[str, str]]
    """Of the functions, by handler."""

    schedules: Mapping[str, str]
    """What each rule is: enabled or not."""

    targets: Mapping[str, list[str]]
    """Of each rule, ARNs."""

    redrives: Mapping[str, str]
    """The redrive policy of each queue that has one."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """All that the rehearsal saw."""

    synthesized: tuple[Stack, ...]
    deployed: Seen
    stage: Stage
    difference_at_rest: str
    difference_from_app: str
    session: Mapping[str, Any]
    letters: Answer
    refused: Answer
    left_by_destroy: Mapping[str, set[str]]
    stacks_after_destroy: Mapping[str, str]
    difference_before_update: str
    updated: Seen
    updated_stage: Stage
    difference_after_update: str
    session_before: Mapping[str, Any]
    session_after: Mapping[str, Any]
    left_by_retained: Mapping[str, set[str]]
    stacks_after_retained: Mapping[str, str]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The whole rehearsal, once; every step is one command of the CLI."""
    folder = tmp_path_factory.mktemp("rehearsal")
    with running(folder / "emulator", port=free_port()) as emulator:
        return play(Rehearsal(emulator=emulator, folder=folder, cdk=Cdk(emulator)))


def play(rehearsal: Rehearsal) -> Played:
    emulator = rehearsal.emulator
    plain, changed = rehearsal.synthesized("plain"), rehearsal.synthesized("changed", **UPDATE)
    rehearsal.bootstrap(plain)
    before = inventory(emulator)
    with deployable(plain) as first, deployable(changed) as second:
        deployed = rehearsal.deploy(first)
        stage = seen_stage(emulator, deployed)
        difference_at_rest = rehearsal.difference(first)
        difference_from_app = rehearsal.difference(plain)
        api = rehearsal.caller(deployed.outputs)
        session = read(api, create(api, {"state": {"kept": 1}})["sessionId"])
        letters = api.call("GET", "/ops/dlq")
        refused = Api(deployed.outputs.api_url, None).call("GET", "/sessions")
        rehearsal.destroy(first)
        left_by_destroy = new_in(inventory(emulator), before=before)
        stacks_after_destroy = rehearsal.stacks()

        api = rehearsal.caller(rehearsal.deploy(first).outputs)
        session_before = create(api, {"state": {"kept": 1}})
        difference_before_update = rehearsal.difference(second)
        updated = rehearsal.deploy(second)
        api = rehearsal.caller(updated.outputs)
        session_after = read(api, session_before["sessionId"])
        updated_stage = seen_stage(emulator, updated)
        difference_after_update = rehearsal.difference(second)
        rehearsal.destroy(second)
    return Played(
        synthesized=read_stacks(plain),
        deployed=deployed,
        stage=stage,
        difference_at_rest=difference_at_rest,
        difference_from_app=difference_from_app,
        session=session,
        letters=letters,
        refused=refused,
        left_by_destroy=left_by_destroy,
        stacks_after_destroy=stacks_after_destroy,
        difference_before_update=difference_before_update,
        updated=updated,
        updated_stage=updated_stage,
        difference_after_update=difference_after_update,
        session_before=session_before,
        session_after=session_after,
        left_by_retained=new_in(inventory(emulator), before=before),
        stacks_after_retained=rehearsal.stacks(),
    )


def seen_stage(emulator: Emulator, seen: Seen) -> Stage:
    functions = emulator.client("lambda").list_functions()["Functions"]
    gateway, events, sqs = (emulator.client(service) for service in ("apigateway", "events", "sqs"))
    (stage,) = gateway.get_stages(restApiId=seen.outputs.api_id)["item"]
    rules = events.list_rules()["Rules"]
    queues = {
        url: sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        for url in seen.inventory["AWS::SQS::Queue"]
    }
    return Stage(
        throttling_burst=stage["methodSettings"]["*/*"]["throttlingBurstLimit"],
        environments={each["Handler"]: each["Environment"]["Variables"] for each in functions},
        schedules={rule["Name"]: rule["State"] for rule in rules},
        targets={
            rule["Name"]: [
                target["Arn"] for target in events.list_targets_by_rule(Rule=rule["Name"])["Targets"]
            ]
            for rule in rules
        },
        redrives={
            url: attributes["RedrivePolicy"]
            for url, attributes in queues.items()
            if "RedrivePolicy" in attributes
        },
    )


def test_every_stack_is_complete(played: Played) -> None:
    assert played.deployed.statuses == dict.fromkeys((*CHANGED, DASHBOARD), "CREATE_COMPLETE")
    updated = dict.fromkeys(CHANGED, "UPDATE_COMPLETE")
    assert played.updated.statuses == {**updated, DASHBOARD: "CREATE_COMPLETE"}, "it shows what it showed"


def test_all_that_the_templates_have_is_there_but_the_streams_mappings(played: Played) -> None:
    left_out = {logical_id for _, logical_id, _ in stream_mappings(played.synthesized)}
    expected = sum(len(stack.resources) for stack in played.synthesized) - len(left_out)
    assert len(played.deployed.resources) == expected
    for resource in played.deployed.resources:
        if resource.kind in LISTED:
            assert resource.physical_id in played.deployed.inventory[resource.kind], resource
        else:
            assert resource.kind in OF_ANOTHER, f"how is {resource.kind} listed? tests.support.rehearsal"


def test_the_synthesized_stacks_are_deployed(played: Played) -> None:
    assert played.difference_at_rest == ""
    assert played.difference_after_update == ""


def test_only_the_mappings_of_streams_are_not_deployed_as_they_are(played: Played) -> None:
    told = [line.split()[:2] for line in played.difference_from_app.splitlines() if line.startswith("[")]
    mappings = len(list(stream_mappings(played.synthesized)))
    assert told == [["[+]", "AWS::Lambda::EventSourceMapping"]] * mappings


def test_a_signed_call_makes_a_session_and_an_unsigned_one_is_refused(played: Played) -> None:
    assert (played.session["status"], played.session["state"]) == ("initializing", {"kept": 1})
    assert played.refused.status == 401


def test_an_operator_sees_the_empty_dead_letter_queues(played: Played) -> None:
    assert played.letters.status == 200
    assert [queue["depth"] for queue in played.letters.json["queues"]] == [0, 0]


def test_the_clean_up_queue_gives_up_to_its_dead_letters(played: Played) -> None:
    assert list(played.stage.redrives) == [played.deployed.outputs.cleanup_queue_url]
    (policy,) = map(json.loads, played.stage.redrives.values())
    letters = policy["deadLetterTargetArn"].rpartition(":")[2]
    assert letters == names.queue(STAGE, names.CLEANUP_DEAD_LETTERS)
    assert [url for url in played.deployed.inventory["AWS::SQS::Queue"] if url.endswith(f"/{letters}")]
    assert int(policy["maxReceiveCount"]) == 10


def test_every_schedule_is_on_and_starts_a_function_that_is_there(played: Played) -> None:
    rules = {rule.physical_id for rule in played.deployed.of("AWS::Events::Rule")}
    assert rules
    functions = played.deployed.inventory["AWS::Lambda::Function"]
    assert {played.stage.schedules[rule] for rule in rules} == {"ENABLED"}
    for rule in rules:
        assert {arn.rpartition(":")[2] for arn in played.stage.targets[rule]} <= functions


def test_an_update_is_previewed_and_changes_what_it_previews(played: Played) -> None:
    assert "ThrottlingBurstLimit" in played.difference_before_update
    assert Env.AUDIT_RETENTION_DAYS in played.difference_before_update
    assert (played.stage.throttling_burst, played.updated_stage.throttling_burst) == (1000, 77)
    assert {each[Env.AUDIT_RETENTION_DAYS] for each in played.stage.environments.values()} == {"90"}
    assert {each[Env.AUDIT_RETENTION_DAYS] for each in played.updated_stage.environments.values()} == {"30"}


def test_an_update_keeps_the_data_and_the_address(played: Played) -> None:
    assert played.session_after == played.session_before
    assert played.updated.outputs.table_name == played.deployed.outputs.table_name


def test_a_destroyed_stack_leaves_what_its_template_retains(played: Played) -> None:
    assert played.stacks_after_destroy == {}
    assert played.left_by_destroy == played.deployed.retained
    assert set(played.left_by_destroy) == {"AWS::IAM::Role"}, "API Gateway's own, for its logs"


def test_a_retained_stack_leaves_its_data_and_its_logs(played: Played) -> None:
    assert played.stacks_after_retained == {}
    assert played.left_by_retained == played.updated.retained
    assert played.left_by_retained["AWS::DynamoDB::GlobalTable"] == {
        played.updated.outputs.table_name,
        played.updated.outputs.audit_table_name,
    }
    assert {"AWS::Logs::LogGroup", "AWS::S3::Bucket"} <= set(played.left_by_retained)
