"""What the demo prints, and what it refuses."""

from pathlib import Path

import msgspec
import pytest

from local.access import ISSUER_URL
from local.demo import __main__ as demo
from local.demo import steps
from session_store_client import errors, session_calls
from session_store_client.operator_calls import get_health
from tests.support.client_answers import SESSION, SESSION_ID, Scripted, ok, problem


def test_the_demo_refuses_a_stack_that_takes_tokens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ISSUER_URL).write_text("http://127.0.0.1:1")
    monkeypatch.setattr(demo, "STATE", tmp_path)
    assert demo.main() == 1
    assert "start it without AUTH=jwt" in capsys.readouterr().err


def test_every_printed_field_is_one_of_its_answer() -> None:
    for kind, names in steps._PRINTED_FIELDS.items():
        assert set(names) <= {field.name for field in msgspec.structs.fields(kind)}


def test_an_answer_is_printed_as_a_class_of_its_own_and_not_as_its_base() -> None:
    kinds = list(steps._PRINTED_FIELDS)
    for place, kind in enumerate(kinds):
        assert not any(issubclass(later, kind) for later in kinds[place + 1 :])


def test_a_step_prints_its_call_and_the_answer_by_the_apis_names(capsys: pytest.CaptureFixture[str]) -> None:
    client = Scripted(ok(SESSION)).client()
    session = steps.step(client, session_calls.get_session(SESSION_ID))
    call, answer = capsys.readouterr().out.splitlines()
    assert call.split() == ["GET", f"/sessions/{SESSION_ID}"]
    assert f'status: "active"  version: {session.version}  state: {{"n":1}}  expiresAt: ' in answer


def test_a_step_that_is_refused_ends_the_demo() -> None:
    client = Scripted(problem(404, "session-not-found")).client()
    with pytest.raises(steps.DemoError, match="was refused unexpectedly"):
        steps.step(client, session_calls.get_session(SESSION_ID))


def test_a_refusal_has_to_be_the_expected_one(capsys: pytest.CaptureFixture[str]) -> None:
    call = session_calls.get_session(SESSION_ID)
    gone = problem(404, "session-not-found")
    steps.refused(Scripted(gone).client(), call, errors.SessionNotFoundError)
    assert "refused: 404 session-not-found: No." in capsys.readouterr().out
    with pytest.raises(steps.DemoError, match="for another reason"):
        steps.refused(Scripted(gone).client(), call, errors.VersionConflictError)
    with pytest.raises(steps.DemoError, match="should have been refused"):
        steps.refused(Scripted(ok({"status": "ok"})).client(), get_health(), errors.NotFoundError)
