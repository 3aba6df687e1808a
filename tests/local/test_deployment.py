"""The app is deployed locally as synthesized, except for its stream mappings."""

import json
from pathlib import Path
from typing import Any

from local.deployment import deployable

MAPPING = {
    "Type": "AWS::Lambda::EventSourceMapping",
    "Properties": {"EventSourceArn": {"Fn::GetAtt": ["Table", "StreamArn"]}},
}


def assembly(folder: Path, **resources: Any) -> Path:
    made = folder / "cdk.out"
    (made / "asset.1").mkdir(parents=True)
    (made / "asset.1" / "handler.py").write_text("handler = None\n")
    artifact = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "App.template.json"}}
    (made / "manifest.json").write_text(json.dumps({"artifacts": {"App": artifact}}))
    template = {"Resources": {"Table": {"Type": "AWS::DynamoDB::GlobalTable"}, **resources}}
    (made / "App.template.json").write_text(json.dumps(template))
    return made


def resources(assembly: Path) -> list[str]:
    return sorted(json.loads((assembly / "App.template.json").read_text())["Resources"])


def test_without_a_streams_mapping_the_assembly_is_deployed_itself(tmp_path: Path) -> None:
    synthesized = assembly(tmp_path)
    with deployable(synthesized) as deployed:
        assert deployed == synthesized


def test_a_stream_mapping_is_in_the_assembly_but_not_deployed(tmp_path: Path) -> None:
    synthesized = assembly(tmp_path, Mapping=MAPPING)
    with deployable(synthesized) as deployed:
        assert resources(deployed) == ["Table"]
        assert (deployed / "asset.1" / "handler.py").read_text() == "handler = None\n"
        assert resources(synthesized) == ["Mapping", "Table"]
    assert resources(synthesized) == ["Mapping", "Table"]
    assert [path.name for path in tmp_path.iterdir()] == ["cdk.out"]
