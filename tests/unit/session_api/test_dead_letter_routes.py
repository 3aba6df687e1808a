"""Dead letters over HTTP: listed and redriven, without showing what items hold."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from session_api.dead_letter_bodies import RedriveLetters
from session_api.dead_letter_routes import list_dead_letters, redrive_dead_letters
from session_api.operations import Route
from session_api.requests import Headers, Query, Request, parse_body
from session_store.domain.dead_letter import Unreadable
from session_store.domain.json_values import encode
from session_store.errors import ForbiddenError, InvalidRequestError, NotFoundError
from tests.support.dead_letters import SHARD, Office, a_letter, a_range, an_end, event
from tests.support.samples import ALICE, OPERATOR
from tests.support.world import World


@pytest.fixture
def office() -> Office:
    office = Office()
    office.history.records = [event(number) for number in range(1, 21)]
    return office


def answered(office: Office, route: Route[Any], **request: Any) -> Any:
    store = replace(World().store, dead_letters=lambda: office.dead_letters)
    facts: dict[str, Any] = {
        "store": store,
        "caller": OPERATOR,
        "path": {},
        "headers": Headers({}),
        "query": Query(),
        "min_version": 0,
        "body": None,
        **request,
    }
    return json.loads(encode(route(Request(**facts)).value))


def body(text: str) -> RedriveLetters:
    return parse_body({"body": text}, RedriveLetters)


def test_letters_are_listed_with_what_they_point_at(office: Office) -> None:
    pointer = a_letter(a_range(5, 8), condition="RetryAttemptsExhausted")
    broken = a_letter(Unreadable(reason="not a letter"))
    end = a_letter(an_end("use1-xyz"))
    office.stream.put(pointer, broken)
    office.ended.put(end)
    nothing = {
        "sentAt": "2027-01-15T08:00:00.250Z",
        "receiveCount": 1,
        "condition": None,
        "shardRange": None,
        "sessionId": None,
        "unreadable": None,
    }
    shard_range = {
        "shardId": SHARD,
        "startSequenceNumber": "5",
        "endSequenceNumber": "8",
        "batchSize": 4,
    }
    condition = {"condition": "RetryAttemptsExhausted"}
    assert answered(office, list_dead_letters) == {
        "queues": [
            {
                "queue": "stream",
                "depth": 2,
                "letters": [
                    {**nothing, **condition, "messageId": pointer.message_id, "shardRange": shard_range},
                    {**nothing, "messageId": broken.message_id, "unreadable": "not a letter"},
                ],
            },
            {
                "queue": "cleanup",
                "depth": 1,
                "letters": [{**nothing, "messageId": end.message_id, "sessionId": "use1-xyz"}],
            },
        ],
        "quarantine": {"records": 3, "more": False},
    }


def test_the_list_of_letters_has_a_limit(office: Office) -> None:
    office.stream.put(*(a_letter(a_range(1, 1)) for _ in range(3)))
    shown = answered(office, list_dead_letters, query=Query(values={"limit": "2"}))["queues"][0]["letters"]
    assert len(shown) == 2
    for limit in ("0", "101", "x"):
        with pytest.raises(InvalidRequestError, match="query limit"):
            answered(office, list_dead_letters, query=Query(values={"limit": limit}))


def test_a_redrive_reports_the_outcome_of_each_letter(office: Office) -> None:
    letter, end = a_letter(a_range(5, 8)), a_letter(an_end())
    office.stream.put(letter)
    office.ended.put(end)
    assert answered(office, redrive_dead_letters, body=body("{}")) == {
        "items": [
            {
                "messageId": letter.message_id,
                "queue": "stream",
                "outcome": "replayed",
                "records": 4,
                "detail": None,
            },
            {
                "messageId": end.message_id,
                "queue": "cleanup",
                "outcome": "requeued",
                "records": 0,
                "detail": None,
            },
        ],
        "more": False,
    }


def test_a_redrive_may_be_of_one_queue_and_of_few_letters(office: Office) -> None:
    office.stream.put(a_letter(a_range(1, 1)))
    office.ended.put(a_letter(an_end()), a_letter(an_end()))
    answer = answered(office, redrive_dead_letters, body=body('{"queue": "cleanup", "max": 1}'))
    assert ([item["queue"] for item in answer["items"]], answer["more"]) == (["cleanup"], True)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"queue": "other"}', r"\$\.queue"),
        ('{"max": 0}', r"\$\.max"),
        ('{"max": 101}', r"\$\.max"),
        ('{"max": "5"}', r"\$\.max"),
        ('{"most": 5}', "most"),
    ],
)
def test_an_invalid_redrive_is_refused(text: str, path: str) -> None:
    with pytest.raises(InvalidRequestError, match=path):
        body(text)


def test_only_an_operator_is_answered(office: Office) -> None:
    with pytest.raises(ForbiddenError):
        answered(office, list_dead_letters, caller=ALICE)
    with pytest.raises(ForbiddenError):
        answered(office, redrive_dead_letters, caller=ALICE, body=body("{}"))


def test_a_deployment_without_dead_letter_queues_answers_404(office: Office) -> None:
    with pytest.raises(NotFoundError, match="no dead-letter queues"):
        answered(office, list_dead_letters, store=World().store)
