"""The physical names behind a template's references, as the deployed stacks have them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from local.streams.mapping import EventSourceMapping, MappingError, settings
from local.streams.templates import Stack, output_of, stream_mappings

_FUNCTION: Final = "AWS::Lambda::Function"
_QUEUE: Final = "AWS::SQS::Queue"
_TABLES: Final = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")


class DeployedStacks(Protocol):
    def physical_id(self, stack: str, logical_id: str) -> str:
        """A function's or table's name, a queue's URL. Raises ``MappingError`` where it is not deployed."""

    def export(self, name: str) -> str:
        """Raises ``MappingError`` where no stack exports it."""

    def stream_arn(self, table: str) -> str:
        """Of the table's present stream. Raises ``MappingError`` where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsEnvironment:
    region: str
    account: str


def resolve(
    stacks: Sequence[Stack], *, deployed: DeployedStacks, place: AwsEnvironment
) -> tuple[EventSourceMapping, ...]:
    """The stream mappings of ``stacks``, judged and with physical names. Raises ``MappingError``."""
    resolved = []
    for stack, logical_id, properties in stream_mappings(stacks):
        name = f"{stack.name}/{logical_id}"
        values = _Values(stack=stack, stacks=stacks, deployed=deployed, place=place)
        try:
            resolved.append(
                EventSourceMapping(
                    name=name,
                    function_arn=_function_arn(values.text(properties.get("FunctionName")), place=place),
                    stream_arn=values.text(properties.get("EventSourceArn")),
                    dead_letter_arn=_dead_letter_arn(values, properties),
                    settings=settings(properties),
                )
            )
        except MappingError as error:
            raise MappingError(f"{name}: {error}") from error
    return tuple(resolved)


def _function_arn(name: str, *, place: AwsEnvironment) -> str:
    if name.startswith("arn:"):
        return name
    return f"arn:aws:lambda:{place.region}:{place.account}:function:{name.rpartition('function:')[2]}"


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
    place: AwsEnvironment

    def text(self, value: object) -> str:
        """``value`` is a string or one of the intrinsic functions that name a resource."""
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
                raise MappingError(f"a reference of this form is not understood: {value!r}")

    def _ref(self, name: str) -> str:
        pseudo = {
            "AWS::AccountId": self.place.account,
            "AWS::Partition": "aws",
            "AWS::Region": self.place.region,
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
                return _function_arn(physical_id, place=self.place)
            case str(), "Arn" if kind == _QUEUE:
                name = physical_id.rstrip("/").split("/")[-1]
                return f"arn:aws:sqs:{self.place.region}:{self.place.account}:{name}"
            case _:
                raise MappingError(f"{attribute} of {logical_id} ({kind}) is not understood")
