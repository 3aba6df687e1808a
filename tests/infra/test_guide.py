"""The guides speak of what there is: settings, stacks, outputs, tables, and fields of what is logged."""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest
from aws_cdk import Stack

from infra import names
from infra.api.rest_api import ACCESS_LOG
from infra.config import Config
from infra.options import options
from session_api.problems import PROBLEMS
from session_store.metric_names import COLD_START, Metric, Property
from tests.infra.anchors import anchors
from tests.infra.conftest import ROOT, Synthesized
from tests.support.api import InProcessApi
from tests.support.world import WatchedSessions, World

GUIDES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
DEPLOYMENT = (ROOT / "docs" / "deployment.md").read_text()
PAGES = (
    *GUIDES,
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
STACK = re.compile(r"SessionStore-(?:\$STAGE|<stage>|dev|prod2?)-([A-Z][a-z]+)")
OF_POWERTOOLS = frozenset({"correlation_id", "function_request_id", "cold_start"})
"""What the decorators of the handler add to a line, which have no place in a process of tests."""

OF_METRICS = frozenset({f"{name}.0" for name in (*Metric, COLD_START)}) | frozenset(Property)
"""Of a line of metrics: Powertools writes a value as a list, and a property as it is."""

OF_THE_SERVICE = frozenset({"@timestamp", "@message", "level"})
WORDS = frozenset(
    {
        "and",
        "as",
        "by",
        "bin",
        "count",
        "desc",
        "display",
        "fields",
        "filter",
        "in",
        "ispresent",
        "latest",
        "like",
        "or",
        "pct",
        "sort",
        "stats",
    }
    | {"calls", "cold", "crashes", "last", "p99"}
)
"""Of the query language, and what the queries call their results."""

QUERY = re.compile(r"(?:^ {4}|`)((?:fields|filter|stats) [^`\n]+(?:\n {4}\| [^\n]+)*)", re.MULTILINE)
"""Indented, or between words of a sentence."""

QUERIES = {guide.name: found for guide in GUIDES if (found := QUERY.findall(guide.read_text()))}
SLUGS = {problem.slug for problem in PROBLEMS.values()}
LAMBDAS = ROOT / "lambdas"
Logs = Mapping[str, set[str]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page: Path) -> None:
    for path, anchor in LINK.findall(page.read_text()):
        target = page.parent / path if path else page
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target), f"{path}#{anchor}"


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.name)
def test_every_setting_that_a_guide_gives_is_one(guide: Path) -> None:
    given = set(re.findall(r"-c (\w+)=(?!value)", guide.read_text()))
    assert given <= {option.name for option in options(Config).values()}


def test_stacks_have_the_names_that_the_guide_gives_them(optional_sealed: Synthesized) -> None:
    stacks = {stack.stack_name for stack in optional_sealed.deployment.stacks}
    assert set(STACK.findall(DEPLOYMENT)) == {name.split("-")[2] for name in stacks}
    assert names.data_stack("prod2") in DEPLOYMENT
    assert names.regional_stack("dev", "$REGION") in DEPLOYMENT


def test_stacks_depend_on_each_other_as_the_guide_says(optional_sealed: Synthesized) -> None:
    rows = (
        DEPLOYMENT.partition("| stack | where | what | depends on |")[2].partition("\n\n")[0].splitlines()[2:]
    )
    told = {STACK.findall(row)[0]: row.split("|")[4] for row in rows}
    made: dict[str, set[str]] = {
        _kind(stack): set(map(_kind, stack.dependencies)) for stack in optional_sealed.deployment.stacks
    }
    assert {kind: set(re.findall("|".join(made), depends)) for kind, depends in told.items()} == made


def test_the_guide_forgets_no_stack_of_a_region_that_is_removed(optional_sealed: Synthesized) -> None:
    removing = DEPLOYMENT.partition("\n## Remove a region\n")[2].partition("\n## ")[0]
    of_a_region = {
        _kind(stack) for stack in optional_sealed.deployment.stacks if stack.stack_name.endswith("-us-east-1")
    }
    assert {kind for kind in of_a_region if re.search(rf"\b{kind}\b", removing)} == of_a_region


def _kind(stack: Stack) -> str:
    return stack.stack_name.split("-")[2]


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


def test_the_guides_to_alarms_and_to_logs_have_queries() -> None:
    assert QUERIES.keys() == {"access.md", "deployment.md", "operations.md"}


@pytest.mark.parametrize("query", [query for found in QUERIES.values() for query in found])
def test_a_query_asks_for_fields_that_are_logged(query: str, logs: Logs) -> None:
    words = re.sub(r'"[^"]*"|/[^/]*/', "", query)
    asked = {word for word in re.findall(r"[@\w.]+", words) if not word[0].isdigit()} - WORDS
    messages = re.findall(r'message = "([^"]+)"', query)
    assert set(messages) <= logs.keys()
    known = {field for message in messages or logs for field in logs[message]} | {"message"}
    assert asked <= known | ACCESS_LOG.keys() | OF_POWERTOOLS | OF_METRICS | OF_THE_SERVICE
    if "problem" in asked and (told := re.search(r"problem (?:=|in) ([^|]+)", query)):
        assert set(re.findall(r'"([^"]+)"', told[1])) <= SLUGS


@pytest.fixture(scope="module")
def logs() -> Logs:
    """By message what its lines say: of the API as they come, of the others as their source has it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        lines = [json.loads(line) for line in logged(monkeypatch)]
    found: dict[str, set[str]] = {}
    for line in lines:
        found.setdefault(line["message"], set()).update(fields(line))
    for file in LAMBDAS.rglob("*.py"):
        for message, names_of_fields in written(file):
            found.setdefault(message, set()).update(names_of_fields)
    return found


def written(file: Path) -> Iterator[tuple[str, set[str]]]:
    """The lines that a file has a logger write: each message, and the names of its fields."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("logger")), args=[ast.Constant(str() as message)]
            ):
                yield message, {keyword.arg for keyword in node.keywords if keyword.arg is not None}
            case _:
                pass


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
