"""Synthesized templates: their stream mappings, and the templates without them.

A CDK cloud assembly is a folder with ``manifest.json`` and a template per stack.
"""

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from local.streams.mapping import MappingError

MANIFEST: Final = "manifest.json"
_MAPPING: Final = "AWS::Lambda::EventSourceMapping"
_TABLES: Final = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    name: str
    file: str
    """The template's file name."""

    template: Mapping[str, Any]

    @property
    def resources(self) -> Mapping[str, Any]:
        resources: Mapping[str, Any] = self.template.get("Resources", {})
        return resources


def read_stacks(folder: Path) -> tuple[Stack, ...]:
    """Read the stacks of a cloud assembly, or of a folder written by ``keep_templates``."""
    artifacts = json.loads((folder / MANIFEST).read_text())["artifacts"]
    return tuple(
        Stack(
            name=artifact["properties"].get("stackName", name),
            file=artifact["properties"]["templateFile"],
            template=json.loads((folder / artifact["properties"]["templateFile"]).read_text()),
        )
        for name, artifact in artifacts.items()
        if artifact["type"] == "aws:cloudformation:stack"
    )


def output_of(stacks: Sequence[Stack], name: str, output: str) -> tuple[Stack, object]:
    """Return the stack with an output, and the output's value.

    Raises:
        MappingError
    """
    for stack in stacks:
        if stack.name == name and output in stack.template.get("Outputs", {}):
            return stack, stack.template["Outputs"][output]["Value"]
    raise MappingError(f"no stack {name} has the output {output}")


def keep_templates(assembly: Path, folder: Path) -> None:
    """Copy what ``read_stacks`` needs from ``assembly`` to ``folder``, replacing earlier templates."""
    stacks = read_stacks(assembly)
    folder.mkdir(parents=True, exist_ok=True)
    for earlier in folder.glob("*.json"):
        earlier.unlink()
    for name in (MANIFEST, *(stack.file for stack in stacks)):
        (folder / name).write_bytes((assembly / name).read_bytes())


def stream_mappings(stacks: Sequence[Stack]) -> Iterator[tuple[Stack, str, Mapping[str, Any]]]:
    """Yield stack, logical id and Properties of each mapping whose source is a DynamoDB stream."""
    for stack in stacks:
        for logical_id, resource in stack.resources.items():
            if resource["Type"] == _MAPPING:
                properties = resource.get("Properties", {})
                if _is_stream(properties.get("EventSourceArn"), stack, stacks):
                    yield stack, logical_id, properties


def without_stream_mappings(stacks: Sequence[Stack]) -> Mapping[str, Mapping[str, Any]]:
    """Return the templates of the stacks with stream mappings, by file, without the mappings.

    Raises:
        MappingError: another resource refers to a mapping, so the template needs it.
    """
    removed: dict[str, set[str]] = {}
    for stack, logical_id, _ in stream_mappings(stacks):
        removed.setdefault(stack.file, set()).add(logical_id)
    return {stack.file: _without(stack, removed[stack.file]) for stack in stacks if stack.file in removed}


def _without(stack: Stack, removed: set[str]) -> Mapping[str, Any]:
    template = copy.deepcopy(dict(stack.template))
    template["Resources"] = {
        logical_id: _without_dependencies(resource, removed)
        for logical_id, resource in template["Resources"].items()
        if logical_id not in removed
    }
    referred = removed.intersection(_references(template))
    if referred:
        raise MappingError(f"{stack.name}: the rest of the template refers to {', '.join(sorted(referred))}")
    return template


def _without_dependencies(resource: Mapping[str, Any], removed: set[str]) -> dict[str, Any]:
    dependencies = resource.get("DependsOn", [])
    rest = [
        name
        for name in ([dependencies] if isinstance(dependencies, str) else dependencies)
        if name not in removed
    ]
    others = {name: value for name, value in resource.items() if name != "DependsOn"}
    return {**others, "DependsOn": rest} if rest else others


def _references(value: object) -> Iterator[str]:
    """Yield the logical ids in every Ref and Fn::GetAtt in ``value``."""
    if isinstance(value, Mapping):
        match list(value.items()):
            case [("Ref", str() as name)] | [("Fn::GetAtt", [str() as name, *_])]:
                yield name
            case [("Fn::GetAtt", str() as dotted)]:
                yield dotted.split(".")[0]
            case items:
                for _, child in items:
                    yield from _references(child)
    elif isinstance(value, list):
        for child in value:
            yield from _references(child)


def _is_stream(source: object, stack: Stack, stacks: Sequence[Stack]) -> bool:
    """Return whether the source is a DynamoDB stream, following references and exports of other stacks."""
    match source:
        case str():
            return ":dynamodb:" in source
        case {"Fn::GetAtt": [str() as logical_id, str()]}:
            return stack.resources.get(logical_id, {}).get("Type") in _TABLES
        case {"Fn::ImportValue": str() as export}:
            return any(
                _is_stream(output["Value"], exporter, stacks)
                for exporter in stacks
                for output in exporter.template.get("Outputs", {}).values()
                if output.get("Export", {}).get("Name") == export
            )
        case {"Fn::GetStackOutput": {"StackName": str() as name, "OutputName": str() as output}}:
            owner, value = output_of(stacks, name, output)
            return _is_stream(value, owner, stacks)
        case {"Fn::Join": [str() as separator, list() as parts]}:
            return ":dynamodb:" in separator.join(part if isinstance(part, str) else "" for part in parts)
        case _:
            return False
