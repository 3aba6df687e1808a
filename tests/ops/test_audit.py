"""The command prints a session's whole audit as the API answers it, also after the session's end."""

import json
from typing import Any

import pytest

from infra.names import API_FUNCTION_OUTPUT
from ops import audit
from ops.audit import main, open_audit
from session_store.services.audit_trail import WHOLE_PAGE
from session_store.storage.dynamodb.audit_table import AuditTable
from tests.support.api import InProcessApi
from tests.support.samples import SESSION_ID, a_session, an_event
from tests.support.stage import VARIABLES, deploy
from tests.support.task_calls import Queue
from tests.support.world import World


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(audit, "open_audit", lambda **_: world.store.audit)
    return world


def run(capsys: pytest.CaptureFixture[str], session_id: str) -> tuple[int, list[Any]]:
    code = main([session_id, "--stage", "prod"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_it_prints_what_the_api_answers_to_the_owner(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    api = InProcessApi(world)
    session_id = api.open()
    call = {"toolName": "search", "input": {}, "output": {}, "durationMs": 1}
    assert api.call("PUT", f"/sessions/{session_id}/tool-calls/c1", call).status == 201
    answered = api.call("GET", f"/sessions/{session_id}/audit").json["items"]
    assert answered
    assert run(capsys, session_id) == (0, answered)


def test_it_prints_every_page_of_a_session_that_has_ended(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    session = a_session()
    for _ in range(2 * WHOLE_PAGE + 1):
        world.memory.events.append(an_event(session))
    code, lines = run(capsys, session.session_id)
    assert (code, len(lines)) == (0, 2 * WHOLE_PAGE + 1)


def test_it_prints_the_audit_of_an_approval(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    queue = Queue(InProcessApi(world))
    task_id = queue.created(kind="approval")
    assert queue.decide(task_id).status == 200
    code = main([task_id, "--task", "--stage", "prod"])
    (line,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (code, line["eventName"], line["facts"]["decision"]) == (0, "ApprovalDecided", "approved")
    assert main([task_id, "--stage", "prod"]) == 1
    assert main([SESSION_ID, "--task", "--stage", "prod"]) == 1
    assert capsys.readouterr().err.endswith("the audit has no entries for this task\n")


@pytest.mark.usefixtures("world")
def test_a_session_without_an_audit_has_an_exit_status_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([SESSION_ID, "--stage", "prod"]) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "the audit has no entries for this session\n")


@pytest.mark.usefixtures("world")
def test_an_invalid_session_id_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-id", "--stage", "prod"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("arguments", [[], [SESSION_ID], ["--stage", "prod"]])
def test_a_command_that_is_none_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_the_audit_table_is_that_of_the_apis_function(monkeypatch: pytest.MonkeyPatch) -> None:
    deploy(monkeypatch, {API_FUNCTION_OUTPUT: "api"}, VARIABLES)
    storage = open_audit(stage="prod", region="eu-west-1").storage
    assert isinstance(storage, AuditTable)
    assert storage.client.table == "audit"


def test_a_stage_that_is_not_deployed_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deploy(monkeypatch, {API_FUNCTION_OUTPUT: "api"}, VARIABLES)
    assert main([SESSION_ID, "--stage", "other", "--region", "eu-west-1"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
