"""Clients are created without reading the models of every AWS service."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest
from botocore.exceptions import UnknownServiceError

from session_store.storage.integrations.aws_clients import aws_client, aws_session

ASKED_FOR = ("dynamodb", "dynamodbstreams", "events", "lambda", "s3", "secretsmanager", "sqs")
BY_COMMANDS = ("cloudformation",)


@pytest.mark.parametrize("service", [*ASKED_FOR, *BY_COMMANDS])
def test_each_service_has_a_client(service: str) -> None:
    client = aws_client(service, region="us-east-1")
    assert client.meta.service_model.service_name == service


def test_a_service_that_does_not_exist_is_unknown() -> None:
    with pytest.raises(UnknownServiceError):
        aws_client("no-such-service", region="us-east-1")


def test_no_folder_of_a_service_that_is_not_asked_for_is_looked_into() -> None:
    aws_session.cache_clear()
    with patch("os.listdir", side_effect=os.listdir) as looked:
        aws_client("dynamodb", region="us-east-1")
    assert {Path(call.args[0]).name for call in looked.call_args_list} <= {"dynamodb", "data", "models"}
