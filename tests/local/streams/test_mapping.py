"""A mapping's settings have AWS's defaults and limits."""

from typing import Any

import pytest

from local.streams.mapping import (
    RETENTION_SECONDS,
    MappingError,
    MappingSettings,
    StartingPosition,
    read_mapping_settings,
)


def from_template(**properties: Any) -> MappingSettings:
    places = {"EventSourceArn": "arn", "FunctionName": "name", "StartingPosition": "TRIM_HORIZON"}
    return read_mapping_settings({**places, **properties})


def test_omitted_properties_have_the_defaults_of_aws() -> None:
    assert from_template() == MappingSettings(
        starting_position=StartingPosition.TRIM_HORIZON,
        batch_size=100,
        window=0,
        bisects=False,
        max_retries=None,
        max_age=RETENTION_SECONDS,
        reports_failures=False,
        enabled=True,
    )


def test_every_supported_property_is_read() -> None:
    said = from_template(
        StartingPosition="LATEST",
        BatchSize=25,
        MaximumBatchingWindowInSeconds=2,
        BisectBatchOnFunctionError=True,
        MaximumRetryAttempts=3,
        MaximumRecordAgeInSeconds=3600,
        FunctionResponseTypes=["ReportBatchItemFailures"],
        FilterCriteria={"Filters": [{"Pattern": '{"eventName": ["INSERT"]}'}]},
        ParallelizationFactor=1,
        Enabled=False,
        Tags=[{"Key": "stage", "Value": "local"}],
    )
    assert said == MappingSettings(
        starting_position=StartingPosition.LATEST,
        batch_size=25,
        window=2,
        bisects=True,
        max_retries=3,
        max_age=3600,
        reports_failures=True,
        filters=said.filters,
        enabled=False,
    )
    assert said.filters.admits({"eventName": "INSERT"})
    assert not said.filters.admits({"eventName": "REMOVE"})


def test_minus_one_retries_for_as_long_as_the_stream_keeps_the_record() -> None:
    said = from_template(MaximumRetryAttempts=-1, MaximumRecordAgeInSeconds=-1)
    assert said.max_retries is None
    assert said.max_age == RETENTION_SECONDS


def test_an_age_past_the_streams_retention_is_the_retention() -> None:
    assert from_template(MaximumRecordAgeInSeconds=604_800).max_age == RETENTION_SECONDS


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"StartingPosition": "AT_TIMESTAMP"}, "StartingPosition must be TRIM_HORIZON or LATEST"),
        ({"StartingPosition": None}, "StartingPosition must be"),
        ({"BatchSize": 0}, "BatchSize must be a whole number from 1 to 10000, got 0"),
        ({"BatchSize": 10_001}, "from 1 to 10000"),
        ({"BatchSize": True}, "BatchSize must be a whole number"),
        ({"BatchSize": "100"}, "BatchSize must be a whole number"),
        ({"MaximumBatchingWindowInSeconds": 301}, "from 0 to 300"),
        ({"MaximumRetryAttempts": -2}, "from -1 to 10000"),
        ({"MaximumRecordAgeInSeconds": 59}, "must be -1 or from 60 to 604800, got 59"),
        ({"MaximumRecordAgeInSeconds": 604_801}, "from -1 to 604800"),
        ({"BisectBatchOnFunctionError": "true"}, "BisectBatchOnFunctionError must be true or false"),
        ({"FunctionResponseTypes": ["Everything"]}, "must be empty or ReportBatchItemFailures"),
        ({"ParallelizationFactor": 2}, "ParallelizationFactor must be 1"),
        ({"TumblingWindowInSeconds": 30}, "TumblingWindowInSeconds"),
        ({"KmsKeyArn": "arn"}, "KmsKeyArn of a stream mapping not supported here"),
        ({"FilterCriteria": {"Filters": [{"Pattern": "{"}]}}, "FilterCriteria: filter 1: not JSON"),
    ],
)
def test_unsupported_properties_are_refused_by_name(properties: dict[str, Any], said: str) -> None:
    with pytest.raises(MappingError, match=said):
        from_template(**properties)
