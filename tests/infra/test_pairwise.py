"""Whatever is configured together: nag and cfn-lint are clean, and what must always hold holds."""

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from infra import names
from infra.config_values import Encryption, ExportSchedule
from infra.logged_function import INTERFACE_ACTIONS
from session_store.schema import Attribute
from tests.infra import pairwise
from tests.infra.conftest import Synthesize, Synthesized
from tests.infra.linting import lint

GATEWAY_SECONDS = 29
TABLE = "AWS::DynamoDB::GlobalTable"
ALARM = "AWS::CloudWatch::Alarm"
WITHOUT_RESOURCES = {"xray:PutTelemetryRecords", "xray:PutTraceSegments", *INTERFACE_ACTIONS}
"""Actions that know no resource, or none that is there before they are done."""


@pytest.fixture(scope="module", params=pairwise.ROWS, ids=str)
def row(request: pytest.FixtureRequest, synthesize: Synthesize) -> Synthesized:
    """Synthesizing fails where cdk-nag finds anything."""
    return synthesize(**pairwise.context(request.param))


def by_region(row: Synthesized, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Region and resource of all regional stacks."""
    for region in row.regions:
        for resource in row.resources(kind, region=region).values():
            yield region, resource


def test_the_rows_cover_every_pair_that_is_allowed() -> None:
    met = {pair for row in pairwise.ROWS for pair in pairwise.pairs(row)}
    assert pairwise.all_pairs() - met == set()
    assert met <= pairwise.all_pairs(), "a row that no deployment may have"


def test_cfn_lint_finds_nothing(row: Synthesized) -> None:
    # Further replicas differ by their names alone.
    files = [file for file in row.files if not any(f"-{region}." in file.name for region in row.regions[2:])]
    assert lint(files) == []


def test_a_stream_is_read_from_its_beginning_and_blocked_by_nothing(row: Synthesized) -> None:
    for region in row.regions:
        mappings = row.mappings("stream", region=region)
        assert mappings
        for mapping in mappings:
            assert 0 < mapping["MaximumRetryAttempts"] < 100
            assert mapping["BisectBatchOnFunctionError"] is True
            assert mapping["DestinationConfig"]["OnFailure"]["Destination"]
            assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
            assert mapping["StartingPosition"] == "TRIM_HORIZON"


def test_no_function_has_a_grant_of_everything(row: Synthesized) -> None:
    for region in row.regions:
        for function in row.functions(region=region):
            for resource, actions in row.allowed_by(function, region=region).items():
                assert not [action for action in actions if "*" in action], (resource, actions)
                if resource == "*":
                    assert actions <= WITHOUT_RESOURCES


def test_the_api_may_query_the_indexes(row: Synthesized) -> None:
    for region in row.regions:
        allowed = row.allowed("session_api", region=region)
        assert [r for r, actions in allowed.items() if r.endswith("/index/*") and "dynamodb:Query" in actions]


def test_the_api_answers_before_the_gateway_gives_up(row: Synthesized) -> None:
    for region in row.regions:
        assert row.function("session_api", region=region)["Timeout"] < GATEWAY_SECONDS


def test_alarms_are_those_that_the_code_raised_and_say_what_to_do(row: Synthesized) -> None:
    config = row.deployment.config
    for region, stack in row.deployment.regional.items():
        alarms = row.properties(ALARM, region=region)
        assert len(alarms) == len(stack.alarms.raised)
        assert len({alarm["AlarmName"] for alarm in alarms}) == len(alarms)
        for alarm in alarms:
            assert f"{config.runbook}#" in alarm["AlarmDescription"]
            assert ("AlarmActions" in alarm) == config.alarm_topic


def test_regions_of_one_deployment_have_alarms_alike(row: Synthesized) -> None:
    """But for the export of the audit table, of which there is one."""
    of_regions = [
        {
            re.sub(r"-(p99|average|maximum)-.*", r"-\1", alarm["AlarmName"])
            for alarm in row.properties(ALARM, region=region)
        }
        for region in row.regions
    ]
    exported = row.deployment.config.audit_export is not ExportSchedule.NONE
    export = {f"session-store-{row.deployment.config.stage}-audit-export-dead-letters"}
    primary, *others = of_regions
    assert primary & export == (export if exported else set())
    assert all(other == primary - export for other in others)


def test_every_pair_of_regions_has_its_alarms_on_replication(row: Synthesized) -> None:
    found = {
        (region, each["AlarmName"].partition("-replication-")[2])
        for region, resource in by_region(row, ALARM)
        if (each := resource["Properties"]).get("MetricName") == "ReplicationLatency"
    }
    assert found == {
        (source, f"{statistic}-{destination}")
        for source, destination in itertools.permutations(row.regions, 2)
        for statistic in ("p99", "average", "maximum")
    }


def test_what_the_emulator_drops_is_asked_of_the_cloud(row: Synthesized) -> None:
    config = row.deployment.config
    tables = row.properties(TABLE)
    assert len(tables) == 2
    for table in tables:
        assert table["TimeToLiveSpecification"] == {"AttributeName": Attribute.TTL, "Enabled": True}
        assert table["SSESpecification"]["SSEEnabled"] == (config.encryption is not Encryption.AWS_OWNED)
        assert {replica["Region"] for replica in table["Replicas"]} == set(row.regions)
        for replica in table["Replicas"]:
            assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
            assert replica.get("DeletionProtectionEnabled", False) is config.retain


@pytest.mark.parametrize("kind", [TABLE, "AWS::Logs::LogGroup", "AWS::S3::Bucket", "AWS::KMS::Key"])
def test_what_holds_data_stays_or_goes_with_its_stack_as_configured(row: Synthesized, kind: str) -> None:
    expected = ("Delete", "Delete")
    if row.deployment.config.retain:
        # A first deployment that fails leaves nothing in the way of the second.
        expected = ("RetainExceptOnCreate", "Retain")
    for name, resource in row.resources(kind).items():
        if resource["Properties"].get("LogGroupName") == names.web_acl_logs(row.deployment.config.stage):
            continue
        assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == expected, name


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ("alarm_topic", "AWS::SNS::Topic"),
        ("web_acl", "AWS::WAFv2::WebACL"),
        ("dax_nodes", "AWS::DAX::Cluster"),
    ],
)
def test_an_option_makes_what_it_is_for_in_every_region_and_only_then(
    row: Synthesized, option: str, kind: str
) -> None:
    wanted = len(row.regions) if getattr(row.deployment.config, option) else 0
    assert len(row.resources(kind)) == wanted


def test_what_leaves_the_tables_leaves_them_in_the_primary_region(row: Synthesized) -> None:
    config = row.deployment.config
    exported = config.audit_export is not ExportSchedule.NONE
    for kind, wanted in (("Kinesis::Stream", config.kinesis_stream), ("Scheduler::Schedule", exported)):
        assert len(row.resources(f"AWS::{kind}")) == len(row.of_stack("-Data", f"AWS::{kind}")) == int(wanted)


def test_no_environment_holds_a_secret(row: Synthesized) -> None:
    """A secret would come by a reference that CloudFormation resolves, or be a value of the template."""
    for region in row.regions:
        for function in row.functions(region=region):
            text = json.dumps(function["Environment"])
            assert "resolve:" not in text
            assert "SecretString" not in text
