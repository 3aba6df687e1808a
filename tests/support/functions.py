"""Handlers as Lambda loads them: a module, imported anew in an environment of its own."""

import importlib
import itertools
import sys
from collections.abc import Mapping
from typing import Any, Final

import pytest

ENVIRONMENT: Final[Mapping[str, str]] = {
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "TABLE_NAME": "sessions",
    "AUDIT_TABLE_NAME": "audit",
    "SESSION_REGIONS": "us-east-1",
    "STATUS_SHARDS": "4",
    "AUDIT_RETENTION_DAYS": "90",
    "EVENT_BUS_NAME": "events",
    "POWERTOOLS_METRICS_NAMESPACE": "SessionStore",
}

_numbers = itertools.count()


def logger_name(package: str) -> str:
    """Another each time: one name is one logger of the process, which writes to where it was first made."""
    return f"{package}-{next(_numbers)}"


def load(monkeypatch: pytest.MonkeyPatch, package: str, **environment: str) -> Any:
    """The handler's module, as a new process would import it."""
    named = {"POWERTOOLS_SERVICE_NAME": logger_name(package)}
    for name, value in {**ENVIRONMENT, **named, **environment}.items():
        monkeypatch.setenv(name, value)
    module = f"{package}.handler"
    sys.modules.pop(module, None)
    return importlib.import_module(module)
