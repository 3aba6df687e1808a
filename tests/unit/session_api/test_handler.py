"""The function as Lambda loads it: settings from the environment, one answer an event."""

import gc
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from session_store.errors import ConfigurationError
from tests.support.functions import logger_name
from tests.support.gateway import REQUEST_ID, rest_event

ENVIRONMENT = {
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "TABLE_NAME": "sessions",
    "AUDIT_TABLE_NAME": "audit",
    "SESSION_REGIONS": "us-east-1",
    "STATUS_SHARDS": "4",
    "AUDIT_RETENTION_DAYS": "90",
    "POWERTOOLS_METRICS_NAMESPACE": "SessionStore",
}


class Context(LambdaContext):
    def __init__(self) -> None:
        self._function_name = "session-api"
        self._memory_limit_in_mb = 1024
        self._invoked_function_arn = "arn:aws:lambda:us-east-1:111122223333:function:session-api"
        self._aws_request_id = REQUEST_ID

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 9_000


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    for name, value in {**ENVIRONMENT, "POWERTOOLS_SERVICE_NAME": logger_name("session-api")}.items():
        monkeypatch.setenv(name, value)
    sys.modules.pop("session_api.handler", None)
    yield monkeypatch
    sys.modules.pop("session_api.handler", None)


def loaded() -> Any:
    return importlib.import_module("session_api.handler")


@pytest.mark.filterwarnings("ignore:No application metrics to publish")
def test_the_function_answers_and_sets_its_deadline(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del environment
    module = loaded()
    event = rest_event("GET", "/health", principal=None, headers={"Authorization": "marker-7d1f"})
    answer = module.handler(event, Context())
    assert (answer["statusCode"], answer["body"]) == (200, '{"status":"ok"}')
    assert 0 < module.store.deadline.remaining() <= 9
    printed = capsys.readouterr()
    assert REQUEST_ID in printed.out
    assert "marker-7d1f" not in printed.out + printed.err


def test_a_wrongly_configured_function_does_not_start(environment: pytest.MonkeyPatch) -> None:
    environment.delenv("TABLE_NAME")
    with pytest.raises(ConfigurationError, match="TABLE_NAME"):
        loaded()


def test_loaded_objects_are_frozen_and_garbage_collection_stays_on(
    environment: pytest.MonkeyPatch,
) -> None:
    del environment
    gc.unfreeze()
    loaded()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_a_cold_start_loads_nothing_that_a_request_does_not_use() -> None:
    program = "import sys, session_api.handler; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=True,
    )
    modules = done.stdout.split()
    packages = {name.partition(".")[0] for name in modules}
    assert not packages & {"boto3", "s3transfer", "pydantic", "aws_xray_sdk", "amazondax"}
    assert not [name for name in modules if name.startswith("session_store.in_process")]
