"""Stream mappings are found in synthesized templates, removed for the deployment, and resolved."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from local.streams.mapping import EventSourceMapping, MappingError
from local.streams.references import AwsEnvironment, resolve
from local.streams.templates import (
    Stack,
    keep_templates,
    read_stacks,
    stream_mappings,
    without_stream_mappings,
)

ENVIRONMENT = AwsEnvironment(region="us-east-1", account="000000000000")
STREAM = "arn:aws:dynamodb:us-east-1:000000000000:table/sessions/stream/2027"


def mapping(**properties: Any) -> dict[str, Any]:
    said = {"FunctionName": {"Ref": "Consumer"}, "StartingPosition": "TRIM_HORIZON", **properties}
    return {"Type": "AWS::Lambda::EventSourceMapping", "Properties": said}


def stack(name: str = "App", **resources: Any) -> Stack:
    common = {
        "Table": {"Type": "AWS::DynamoDB::GlobalTable"},
        "Consumer": {"Type": "AWS::Lambda::Function"},
        "DeadLetters": {"Type": "AWS::SQS::Queue"},
    }
    return Stack(name=name, file=f"{name}.template.json", template={"Resources": {**common, **resources}})


def exporting(value: Any) -> Stack:
    output = {"Value": value, "Export": {"Name": "Data:Stream"}}
    template = {"Resources": stack().resources, "Outputs": {"Exported": output}}
    return Stack(name="Data", file="Data.template.json", template=template)


class Deployed:
    def physical_id(self, stack: str, logical_id: str) -> str:
        if logical_id == "Missing":
            raise MappingError(f"{logical_id} is not deployed in {stack}")
        if logical_id == "DeadLetters":
            return f"http://127.0.0.1:4566/000000000000/{stack}-dead-letters"
        return f"{stack}-{logical_id}"

    def export(self, name: str) -> str:
        return f"{STREAM}-{name}"

    def stream_arn(self, table: str) -> str:
        return f"{STREAM}-{table}"


def one(resource: Mapping[str, Any], *others: Stack) -> EventSourceMapping:
    (resolved,) = resolve([stack(Mapping=resource), *others], deployed=Deployed(), environment=ENVIRONMENT)
    return resolved


SOURCES = {
    "a table of the stack": {"Fn::GetAtt": ["Table", "StreamArn"]},
    "another stack's export": {"Fn::ImportValue": "Data:Stream"},
    "another stack's output": {"Fn::GetStackOutput": {"StackName": "Data", "OutputName": "Exported"}},
    "a literal ARN": STREAM,
    "a joined ARN": {
        "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":dynamodb:us-east-1:table/x/stream/y"]]
    },
}
OTHERS = {
    "a queue of the stack": {"Fn::GetAtt": ["DeadLetters", "Arn"]},
    "another stack's export of a queue": {"Fn::ImportValue": "Data:Queue"},
    "another stack's output of a queue": {
        "Fn::GetStackOutput": {"StackName": "Data", "OutputName": "Exported"}
    },
    "a literal ARN of a queue": "arn:aws:sqs:us-east-1:000000000000:queue",
    "nothing": None,
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_a_streams_mapping_is_not_deployed_when_its_source_is(source: Any) -> None:
    stacks = [stack(Mapping=mapping(EventSourceArn=source)), exporting(SOURCES["a table of the stack"])]
    assert [logical_id for _, logical_id, _ in stream_mappings(stacks)] == ["Mapping"]
    replaced = without_stream_mappings(stacks)
    assert list(replaced) == ["App.template.json"]
    assert sorted(replaced["App.template.json"]["Resources"]) == ["Consumer", "DeadLetters", "Table"]


@pytest.mark.parametrize("source", OTHERS.values(), ids=OTHERS.keys())
def test_a_mapping_is_left_to_the_emulator_when_its_source_is(source: Any) -> None:
    stacks = [stack(Mapping=mapping(EventSourceArn=source)), exporting(OTHERS["a queue of the stack"])]
    assert without_stream_mappings(stacks) == {}
    assert resolve(stacks, deployed=Deployed(), environment=ENVIRONMENT) == ()


def test_nothing_waits_for_a_mapping_that_is_not_deployed() -> None:
    waiting = {"Type": "AWS::CloudWatch::Alarm", "DependsOn": ["Consumer", "Mapping"]}
    alone = {"Type": "AWS::CloudWatch::Alarm", "DependsOn": "Mapping"}
    made = stack(Mapping=mapping(EventSourceArn=STREAM), Waiting=waiting, Alone=alone)
    resources = without_stream_mappings([made])["App.template.json"]["Resources"]
    assert resources["Waiting"]["DependsOn"] == ["Consumer"]
    assert "DependsOn" not in resources["Alone"]
    assert "Mapping" in made.resources


@pytest.mark.parametrize(
    "reference", [{"Ref": "Mapping"}, {"Fn::GetAtt": ["Mapping", "Id"]}, {"Fn::GetAtt": "Mapping.Id"}]
)
def test_a_mapping_that_another_resource_names_cannot_be_left_out(reference: Any) -> None:
    naming = {"Type": "AWS::SSM::Parameter", "Properties": {"Values": [{"Value": reference}]}}
    with pytest.raises(MappingError, match="App: the rest of the template refers to Mapping"):
        without_stream_mappings([stack(Mapping=mapping(EventSourceArn=STREAM), Naming=naming)])


def test_references_resolve_to_the_names_of_deployed_resources() -> None:
    resolved = one(
        mapping(
            EventSourceArn={"Fn::GetAtt": ["Table", "StreamArn"]},
            DestinationConfig={"OnFailure": {"Destination": {"Fn::GetAtt": ["DeadLetters", "Arn"]}}},
        )
    )
    assert resolved.name == "App/Mapping"
    assert resolved.function_arn == "arn:aws:lambda:us-east-1:000000000000:function:App-Consumer"
    assert resolved.stream_arn == f"{STREAM}-App-Table"
    assert resolved.dead_letter_arn == "arn:aws:sqs:us-east-1:000000000000:App-dead-letters"


def test_an_import_is_looked_up_and_an_arn_taken_as_it_is() -> None:
    arn = "arn:aws:lambda:us-east-1:000000000000:function:consumer:live"
    resolved = one(
        mapping(EventSourceArn={"Fn::ImportValue": "Data:Stream"}, FunctionName=arn),
        exporting({"Fn::GetAtt": ["Table", "StreamArn"]}),
    )
    assert resolved.stream_arn == f"{STREAM}-Data:Stream"
    assert resolved.function_arn == arn
    assert resolved.dead_letter_arn is None


def test_another_stacks_output_is_resolved_in_that_stack() -> None:
    output = {"Fn::GetStackOutput": {"StackName": "Data", "OutputName": "Exported"}}
    resolved = one(mapping(EventSourceArn=output), exporting({"Fn::GetAtt": ["Table", "StreamArn"]}))
    assert resolved.stream_arn == Deployed().stream_arn("Data-Table")


def test_a_missing_output_is_named() -> None:
    output = {"Fn::GetStackOutput": {"StackName": "Data", "OutputName": "Missing"}}
    with pytest.raises(MappingError, match="no stack Data has the output Missing"):
        list(stream_mappings([stack(Mapping=mapping(EventSourceArn=output))]))


def test_a_join_of_pseudo_parameters_is_put_together() -> None:
    parts = ["arn:aws:dynamodb:", {"Ref": "AWS::Region"}, ":", {"Ref": "AWS::AccountId"}, ":table/t/stream/s"]
    resolved = one(mapping(EventSourceArn={"Fn::Join": ["", parts]}))
    assert resolved.stream_arn == "arn:aws:dynamodb:us-east-1:000000000000:table/t/stream/s"


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"FunctionName": {"Ref": "Missing"}}, "App/Mapping: Missing is not deployed in App"),
        ({"FunctionName": {"Fn::Select": [0, ["a"]]}}, "unsupported reference"),
        ({"FunctionName": {"Fn::GetAtt": ["Table", "Arn"]}}, "Arn of Table"),
        (
            {"DestinationConfig": {"OnFailure": {"Destination": "arn:aws:sns:us-east-1:000000000000:topic"}}},
            "must be an SQS queue here",
        ),
        ({"BatchSize": 0}, "App/Mapping: BatchSize must be"),
    ],
)
def test_an_unsupported_reference_is_refused_with_the_mappings_name(
    properties: dict[str, Any], said: str
) -> None:
    with pytest.raises(MappingError, match=said):
        one(mapping(EventSourceArn=STREAM, **properties))


def test_templates_are_kept_as_they_were_synthesized_in_the_place_of_earlier_ones(tmp_path: Path) -> None:
    assembly, kept = tmp_path / "cdk.out", tmp_path / "kept"
    assembly.mkdir()
    kept.mkdir()
    (kept / "Gone.template.json").write_text("{}")
    made = stack(Mapping=mapping(EventSourceArn=STREAM))
    artifacts = {
        "App": {"type": "aws:cloudformation:stack", "properties": {"templateFile": made.file}},
        "App.assets": {"type": "cdk:asset-manifest", "properties": {"file": "App.assets.json"}},
    }
    (assembly / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    (assembly / made.file).write_text(json.dumps(made.template))
    keep_templates(assembly, kept)
    assert read_stacks(kept) == (made,)
    assert sorted(file.name for file in kept.iterdir()) == ["App.template.json", "manifest.json"]
