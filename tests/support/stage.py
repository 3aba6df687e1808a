"""A stage as commands for operators find it: the stack's outputs, the settings of the API's function."""

from collections.abc import Mapping
from typing import Any, Final

import pytest
from botocore.exceptions import ClientError

from infra.names import regional_stack
from ops import deployed

VARIABLES: Final = {
    "TABLE_NAME": "sessions",
    "AUDIT_TABLE_NAME": "audit",
    "SESSION_REGIONS": "eu-west-1",
    "STATUS_SHARDS": "4",
    "AUDIT_RETENTION_DAYS": "90",
    "STREAM_DEAD_LETTERS_URL": "https://sqs/stream",
    "CLEANUP_DEAD_LETTERS_URL": "https://sqs/cleanup",
    "CLEANUP_QUEUE_URL": "https://sqs/queue",
    "CONSUMER_FUNCTION": "consumer",
    "QUARANTINE_BUCKET": "bucket",
}


class Stage:
    """A stack with these outputs, whose function has these variables."""

    def __init__(self, outputs: Mapping[str, str], variables: Mapping[str, str]) -> None:
        self.outputs = outputs
        self.variables = variables

    def describe_stacks(self, **arguments: str) -> dict[str, Any]:
        if arguments["StackName"] != regional_stack("prod", "eu-west-1"):
            raise ClientError({"Error": {"Code": "ValidationError"}}, "DescribeStacks")
        outputs = [{"OutputKey": key, "OutputValue": value} for key, value in self.outputs.items()]
        return {"Stacks": [{"Outputs": outputs}]}

    def get_function_configuration(self, **arguments: str) -> dict[str, Any]:
        assert arguments == {"FunctionName": "api"}
        return {"Environment": {"Variables": self.variables}}


def deploy(monkeypatch: pytest.MonkeyPatch, outputs: Mapping[str, str], variables: Mapping[str, str]) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    stage = Stage(outputs, variables)
    monkeypatch.setattr(deployed, "aws_client", lambda *_, **__: stage)
