"""The guides speak of what there is: settings, stacks, outputs, tables, and fields of what is logged."""

import json
import re
from pathlib import Path
from typing import Any, NoReturn

import pytest

from infra import names
from infra.api.rest_api import ACCESS_LOG
from infra.config import Config
from infra.options import options
from tests.infra.conftest import ROOT, Synthesized
from tests.support.api import InProcessApi
from tests.support.world import WatchedSessions, World

GUIDES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
DEPLOYMENT = (ROOT / "docs" / "deployment.md").read_text()
STACK = re.compile(r"SessionStore-(?:\$STAGE|<stage>|dev|prod2?)-([A-Z][a-z]+)")
OF_POWERTOOLS = frozenset({"correlation_id", "function_request_id", "cold_start"})
"""What the decorators of the handler add to a line, which have no place in a process of tests."""

OF_METRICS = frozenset({"ColdStart.0"})
OF_THE_SERVICE = frozenset({"@timestamp"})
WORDS = frozenset(
    {
        "and",
        "as",
        "by",
        "bin",
        "count",
        "desc",
        "fields",
        "filter",
        "ispresent",
        "latest",
        "pct",
        "sort",
        "stats",
    }
    | {"1h", "99", "calls", "cold", "crashes", "last", "p99"}
)
"""Of the query language, and what the queries call their results."""


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_every_setting_that_a_guide_gives_is_one(guide: Path) -> None:
    given = set(re.findall(r"-c (\w+)=(?!value)", guide.read_text()))
    assert given <= {option.name for option in options(Config).values()}


def test_stacks_have_the_names_that_the_guide_gives_them(optional_sealed: Synthesized) -> None:
    stacks = {stack.stack_name for stack in optional_sealed.deployment.stacks}
    assert set(STACK.findall(DEPLOYMENT)) == {name.split("-")[2] for name in stacks}
    assert names.data_stack("prod2") in DEPLOYMENT
    assert names.regional_stack("dev", "$REGION") in DEPLOYMENT


def test_outputs_have_the_names_that_the_guide_gives_them(optional_sealed: Synthesized) -> None:
    rows = DEPLOYMENT.partition("| stack | outputs | |")[2].partition("\n\n")[0].splitlines()[2:]
    named = {
        (row.split("|")[1].strip(), name)
        for row in rows
        for name in re.findall(r"`(\w+)`", row.split("|")[2])
    }
    assert named == {
        (file.name.split("-")[2].partition(".")[0], name)
        for file in optional_sealed.files
        for name in json.loads(file.read_text()).get("Outputs", {})
        if not re.search(r"[0-9A-F]{8}$", name)
    }


def test_tables_have_the_names_that_the_guide_gives_them(dev: Synthesized) -> None:
    config = dev.deployment.config
    for name in (config.table_name, config.audit_table_name):
        assert name.replace("dev", "$STAGE") in DEPLOYMENT


def test_queries_ask_for_fields_that_are_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    section = DEPLOYMENT.partition("\n## Logs\n")[2]
    queries = "\n".join(line for line in section.splitlines() if line.startswith("    "))
    asked = set(re.findall(r"[@\w.]+", re.sub(r'"[^"]*"', "", queries))) - WORDS
    lines = "\n".join(logged(monkeypatch))
    known = {field for line in lines.splitlines() for field in fields(json.loads(line))}
    assert asked <= known | ACCESS_LOG.keys() | OF_POWERTOOLS | OF_METRICS | OF_THE_SERVICE
    for message in re.findall(r'message = "(\w+)"', queries):
        assert f'"message":"{message}"' in lines


def fields(line: dict[str, Any]) -> set[str]:
    """As Logs Insights names them: the elements of a list by their positions."""
    return set(line) | {
        f"{name}.{position}"
        for name, held in line.items()
        if isinstance(held, list)
        for position in range(len(held))
    }


def logged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The API's lines of a call that is served, of one refused, and of one that crashes."""
    api = InProcessApi(World())
    session_id = api.open()
    api.call("GET", "/sessions/none")

    def crash(*_: object) -> NoReturn:
        raise RuntimeError

    monkeypatch.setattr(WatchedSessions, "read", crash)
    api.call("GET", f"/sessions/{session_id}")
    return api.log.splitlines()
