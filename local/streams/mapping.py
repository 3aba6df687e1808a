"""An event source mapping's settings, with AWS's defaults and limits.

Source: "Lambda parameters for Amazon DynamoDB event source mappings" (AWS Lambda Developer Guide) and
"AWS::Lambda::EventSourceMapping" (AWS CloudFormation Template Reference).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from local.streams.filters import EVERYTHING, FilterCriteria, FilterError, filter_criteria

INFINITE: Final = -1
RETENTION_SECONDS: Final = 24 * 60 * 60
"""How long a stream keeps a record, and so the longest that delivery is retried."""

_NAMES_AND_PLACES: Final = frozenset({"EventSourceArn", "FunctionName", "DestinationConfig", "Tags"})
_SUPPORTED: Final = frozenset(
    {
        *_NAMES_AND_PLACES,
        "BatchSize",
        "BisectBatchOnFunctionError",
        "Enabled",
        "FilterCriteria",
        "FunctionResponseTypes",
        "MaximumBatchingWindowInSeconds",
        "MaximumRecordAgeInSeconds",
        "MaximumRetryAttempts",
        "ParallelizationFactor",
        "StartingPosition",
    }
)
_REPORT: Final = "ReportBatchItemFailures"


class MappingError(ValueError):
    """AWS would refuse the mapping, or it is not supported here; the message names the property."""


class StartingPosition(StrEnum):
    """Where a new mapping starts in its stream."""

    TRIM_HORIZON = "TRIM_HORIZON"
    LATEST = "LATEST"


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingSettings:
    """How a mapping delivers records. Times are in seconds."""

    starting_position: StartingPosition = StartingPosition.TRIM_HORIZON
    batch_size: int = 100
    window: float = 0
    """How long a batch that is not full waits for more records."""

    bisects: bool = False
    max_retries: int | None = None
    """None: until the records are too old."""

    max_age: float = RETENTION_SECONDS
    reports_failures: bool = False
    filters: FilterCriteria = EVERYTHING
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSourceMapping:
    """A mapping with the names of deployed resources."""

    name: str
    """Stack and logical id, the same in every deployment."""

    function_arn: str
    """The function to invoke."""

    stream_arn: str
    dead_letter_arn: str | None
    """The SQS queue for messages about discarded records."""

    settings: MappingSettings


def read_mapping_settings(properties: Mapping[str, Any]) -> MappingSettings:
    """Read the Properties of an ``AWS::Lambda::EventSourceMapping``.

    Raises:
        MappingError
    """
    unknown = sorted(set(properties) - _SUPPORTED)
    if unknown:
        raise MappingError(f"{', '.join(unknown)} of a stream mapping not supported here")
    if properties.get("ParallelizationFactor", 1) != 1:
        raise MappingError("ParallelizationFactor must be 1: a shard has one reader here")
    retries = _whole(properties, "MaximumRetryAttempts", default=INFINITE, low=INFINITE, high=10_000)
    age = _whole(properties, "MaximumRecordAgeInSeconds", default=INFINITE, low=INFINITE, high=604_800)
    if age != INFINITE and age < 60:  # noqa: PLR2004 - the shortest age that AWS takes
        raise MappingError(f"MaximumRecordAgeInSeconds must be -1 or from 60 to 604800, got {age}")
    return MappingSettings(
        starting_position=_starting_position(properties),
        batch_size=_whole(properties, "BatchSize", default=100, low=1, high=10_000),
        window=_whole(properties, "MaximumBatchingWindowInSeconds", default=0, low=0, high=300),
        bisects=_flag(properties, "BisectBatchOnFunctionError", default=False),
        max_retries=None if retries == INFINITE else retries,
        max_age=RETENTION_SECONDS if age == INFINITE else min(age, RETENTION_SECONDS),
        reports_failures=_reports_failures(properties),
        filters=_filters(properties),
        enabled=_flag(properties, "Enabled", default=True),
    )


def _starting_position(properties: Mapping[str, Any]) -> StartingPosition:
    value = properties.get("StartingPosition")
    if value not in list(StartingPosition):
        raise MappingError(f"StartingPosition must be {' or '.join(StartingPosition)}, got {value!r}")
    return StartingPosition(value)


def _reports_failures(properties: Mapping[str, Any]) -> bool:
    types = properties.get("FunctionResponseTypes") or []
    if types not in ([], [_REPORT]):
        raise MappingError(f"FunctionResponseTypes must be empty or {_REPORT}, got {types!r}")
    return bool(types)


def _filters(properties: Mapping[str, Any]) -> FilterCriteria:
    try:
        return filter_criteria(properties.get("FilterCriteria") or {})
    except FilterError as error:
        raise MappingError(f"FilterCriteria: {error}") from error


def _whole(properties: Mapping[str, Any], name: str, *, default: int, low: int, high: int) -> int:
    value = properties.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise MappingError(f"{name} must be a whole number from {low} to {high}, got {value!r}")
    return value


def _flag(properties: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = properties.get(name, default)
    if not isinstance(value, bool):
        raise MappingError(f"{name} must be true or false, got {value!r}")
    return value
