"""Resolves a template's references to the names of deployed resources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from local.streams.mapping import EventSourceMapping, MappingError, read_mapping_settings
from local.streams.templates import Stack, output_of, stream_mappings

_FUNCTION: Final = "AWS::Lambda::Function"
_QUEUE: Final = "AWS::SQS::Queue"
_TABLES: Final = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")


class DeployedStacks(Protocol):
    def physical_id(self, stack: str, logical_id: str) -> str:
        """Return a function's or table's name or a queue's URL.

        Raises:
            MappingError: it is not deployed.
        """

    def export(self, name: str) -> str:
        """Return an export's value.

        Raises:
            MappingError: no stack exports it.
        """

    def stream_arn(self, table: str) -> str:
        """Return the ARN of the table's current stream.

        Raises:
            MappingError: it has none.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsEnvironment:
    region: str
    account: str


def resolve(
    stacks: Sequence[Stack], *, deployed: DeployedStacks, environment: AwsEnvironment
) -> tuple[EventSourceMapping, ...]:
    """Return the validated stream mappings of ``stacks`` with the names of deployed resources.

    Raises:
        MappingError
    """
    resolved = []
    for stack, logical_id, properties in stream_mappings(stacks):
        name = f"{stack.name}/{logical_id}"
        values = _Values(stack=stack, stacks=stacks, deployed=deployed, environment=environment)
        try:
            resolved.append(
                EventSourceMapping(
                    name=name,
                    function_arn=_function_arn(
                        values.text(properties.get("FunctionName")), environment=environment
                    ),
                    stream_arn=values.text(properties.get("EventSourceArn")),
                    dead_letter_arn=_dead_letter_arn(values, properties),
                    settings=read_mapping_settings(properties),
                )
            )
        except MappingError as error:
            raise MappingError(f"{name}: {error}") from error
    return tuple(resolved)


def _function_arn(name: str, *, environment: AwsEnvironment) -> str:
    if name.startswith("arn:"):
        return name
    function = name.rpartition("function:")[2]
    return f"arn:aws:lambda:{environment.region}:{environment.account}:function:{function}"


def _dead_letter_arn(values: "_Values", properties: Mapping[str, Any]) -> str | None:
    destination = (properties.get("DestinationConfig") or {}).get("OnFailure", {}).get("Destination")
    if destination is None:
        return None
    arn = values.text(destination)
    if not arn.startswith("arn:aws:sqs:"):
        raise MappingError(f"DestinationConfig.OnFailure must be an SQS queue here, got {arn}")
    return arn


@dataclass(frozen=True, slots=True, kw_only=True)
class _Values:
    stack: Stack
    stacks: Sequence[Stack]
    deployed: DeployedStacks
    environment: AwsEnvironment

    def text(self, value: object) -> str:
        """Resolve a string or an intrinsic function that names a resource."""
        match value:
            case str():
                return value
            case {"Ref": str() as name}:
                return self._ref(name)
            case {"Fn::GetAtt": [str() as logical_id, str() as attribute]}:
                return self._attribute(logical_id, attribute)
            case {"Fn::ImportValue": export}:
                return self.deployed.export(self.text(export))
            case {"Fn::GetStackOutput": {"StackName": str() as name, "OutputName": str() as output}}:
                owner, of_output = output_of(self.stacks, name, output)
                return replace(self, stack=owner).text(of_output)
            case {"Fn::Join": [str() as separator, list() as parts]}:
                return separator.join(self.text(part) for part in parts)
            case _:
                raise MappingError(f"unsupported reference: {value!r}")

    def _ref(self, name: str) -> str:
        pseudo = {
            "AWS::AccountId": self.environment.account,
            "AWS::Partition": "aws",
            "AWS::Region": self.environment.region,
            "AWS::StackName": self.stack.name,
        }
        return pseudo.get(name) or self.deployed.physical_id(self.stack.name, name)

    def _attribute(self, logical_id: str, attribute: str) -> str:
        kind = self.stack.resources.get(logical_id, {}).get("Type")
        physical_id = self.deployed.physical_id(self.stack.name, logical_id)
        match kind, attribute:
            case str(), "StreamArn" if kind in _TABLES:
                return self.deployed.stream_arn(physical_id)
            case str(), "Arn" if kind == _FUNCTION:
                return _function_arn(physical_id, environment=self.environment)
            case str(), "Arn" if kind == _QUEUE:
                name = physical_id.rstrip("/").split("/")[-1]
                return f"arn:aws:sqs:{self.environment.region}:{self.environment.account}:{name}"
            case _:
                raise MappingError(f"unsupported attribute {attribute} of {logical_id} ({kind})")
