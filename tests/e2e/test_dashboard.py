"""The deployed dashboard, and the page that is drawn from what its stack counts."""

import json
import re
from pathlib import Path

import pytest

from local.access import Principal
from local.credentials import OPERATOR
from local.dashboard.__main__ import render
from local.dashboard.sources import ClientFactory
from local.deployment import DEPLOYED_TEMPLATES
from tests.support.calls import Acting, create
from tests.support.emulator import LiveStack
from tests.support.logs import nudge

COUNTED = re.compile(r"(\w[\w-]*) <b>([\d,]+)</b>")


@pytest.fixture(scope="module")
def operator(deployed: LiveStack) -> ClientFactory:
    return Principal(endpoint=deployed.emulator.endpoint, credentials=deployed.keys[OPERATOR]).client


def counts(client: ClientFactory, templates: Path) -> tuple[dict[str, int], str]:
    """Return the numbers on the page, by the label of their line."""
    text, _ = render(client, templates=templates)
    return {label: int(number.replace(",", "")) for label, number in COUNTED.findall(text)}, text


def test_the_page_shows_what_calls_have_counted(
    deployed: LiveStack, api: Acting, operator: ClientFactory
) -> None:
    templates = deployed.emulator.state / DEPLOYED_TEMPLATES
    before, _ = counts(operator, templates)
    created = create(api)
    for _ in range(3):
        assert api.call("GET", f"/sessions/{created['sessionId']}").status == 200
    assert api.call("GET", "/sessions/nothing").status == 400
    nudge(deployed)
    after, text = counts(operator, templates)
    # At least: a session that another test keeps alive is called all the while.
    assert after["Served"] - before.get("Served", 0) >= 4
    assert after["Refused"] - before.get("Refused", 0) >= 1
    assert "no source here: the emulator has no metrics in AWS/DynamoDB" in text
    assert "session-store-local-stream-dead-letters" in text


def test_the_dashboard_is_deployed_with_the_rest(deployed: LiveStack) -> None:
    got = deployed.emulator.client("cloudwatch").get_dashboard(DashboardName="session-store-local")
    assert len(json.loads(got["DashboardBody"])["widgets"]) > 20


def test_functions_and_queues_have_names_that_people_can_read(deployed: LiveStack) -> None:
    assert deployed.function("audit_consumer") == "session-store-local-audit-consumer"
    listed = deployed.emulator.client("sqs").list_queues(QueueNamePrefix="session-store-local-")["QueueUrls"]
    assert {url.rpartition("/")[2] for url in listed} == {
        "session-store-local-cleanup",
        "session-store-local-cleanup-dead-letters",
        "session-store-local-stream-dead-letters",
    }
