"""The command prints what the API answers; its exit status says whether letters remain."""

import json
from typing import Any

import pytest

from infra.names import API_FUNCTION_OUTPUT
from ops import dead_letters
from ops.dead_letters import main, open_queues
from ops.deployed import NotDeployedError
from session_store.domain.dead_letter import QueueName
from session_store.storage.integrations.dead_letter_queue import SqsDeadLetterQueue
from tests.support.dead_letters import Office, a_letter, a_range, an_end, event
from tests.support.stage import VARIABLES, deploy


@pytest.fixture
def office(monkeypatch: pytest.MonkeyPatch) -> Office:
    office = Office()
    office.history.records = [event(number) for number in range(1, 21)]
    monkeypatch.setattr(dead_letters, "open_queues", lambda **_: office.dead_letters)
    return office


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = main([*arguments, "--stage", "prod"])
    return code, json.loads(capsys.readouterr().out)


def test_a_look_prints_both_queues_and_leaves_them(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    office.stream.put(a_letter(a_range(5, 8)))
    code, answer = run(capsys, "look")
    assert (code, [view["depth"] for view in answer["queues"]]) == (0, [1, 0])
    assert answer["quarantine"] == {"records": 3, "more": False}
    assert office.stream.letters
    assert not office.stream.hidden


def test_a_redrive_after_which_nothing_is_left_ends_well(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    office.stream.put(a_letter(a_range(5, 8)))
    office.ended.put(a_letter(an_end()))
    code, answer = run(capsys, "redrive")
    assert (code, [item["outcome"] for item in answer["items"]]) == (0, ["replayed", "requeued"])


def test_a_redrive_after_which_letters_stay_says_so(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    office.consumer.poison = {6}
    office.stream.put(a_letter(a_range(5, 8)))
    code, answer = run(capsys, "redrive", "--queue", "stream")
    assert (code, [item["outcome"] for item in answer["items"]]) == (1, ["failed"])


def test_a_redrive_that_stopped_at_its_limit_says_so(
    office: Office, capsys: pytest.CaptureFixture[str]
) -> None:
    office.ended.put(a_letter(an_end()), a_letter(an_end()))
    code, answer = run(capsys, "redrive", "--queue", "cleanup", "--max", "1")
    assert (code, len(answer["items"]), answer["more"]) == (1, 1, True)


@pytest.mark.parametrize(
    "arguments",
    [[], ["look"], ["redrive", "--stage", "prod", "--max", "0"], ["redrive", "--stage", "p", "--queue", "x"]],
)
def test_a_command_that_is_none_is_refused(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_all_is_found_from_the_settings_of_the_apis_function(monkeypatch: pytest.MonkeyPatch) -> None:
    deploy(monkeypatch, {API_FUNCTION_OUTPUT: "api"}, VARIABLES)
    queues = open_queues(stage="prod", region="eu-west-1").queues
    urls = [queue.url for queue in queues.values() if isinstance(queue, SqsDeadLetterQueue)]
    assert (list(queues), urls) == (list(QueueName), ["https://sqs/stream", "https://sqs/cleanup"])


def test_a_stack_without_the_function_or_dead_letters_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    deploy(monkeypatch, {}, VARIABLES)
    with pytest.raises(NotDeployedError, match="SessionStore-prod-Regional-eu-west-1 has no output"):
        open_queues(stage="prod", region="eu-west-1")
    plain = {name: value for name, value in VARIABLES.items() if "DEAD" not in name and "CONS" not in name}
    deploy(monkeypatch, {API_FUNCTION_OUTPUT: "api"}, plain)
    with pytest.raises(NotDeployedError, match="no dead-letter queues"):
        open_queues(stage="prod", region="eu-west-1")


def test_a_stage_that_is_not_deployed_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    deploy(monkeypatch, {API_FUNCTION_OUTPUT: "api"}, VARIABLES)
    assert main(["look", "--stage", "other", "--region", "eu-west-1"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
