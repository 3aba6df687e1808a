"""The clean-up's function: each message succeeds or fails by itself."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from session_store.domain.session_end import EndReason
from session_store.errors import ConfigurationError
from session_store.ports import Storage
from session_store.storage.integrations.cleanup_queue import message_of
from session_store.storage.memory.storage import memory_storage
from tests.support.ended import Surroundings, an_end, left_behind, messages_of, summaries
from tests.support.functions import load
from tests.support.lambda_context import Context
from tests.support.samples import a_session

MALFORMED = [
    "",
    "{",
    "null",
    "[]",
    "{}",
    '"text"',
    '{"sessionId": "marker-9c2e"}',
    json.dumps({**json.loads(message_of(an_end(a_session()))), "reason": "bored"}),
    json.dumps({**json.loads(message_of(an_end(a_session()))), "sessionId": "marker-9c2e"}),
]


def sqs_event(*bodies: str) -> dict[str, Any]:
    return {
        "Records": [
            {
                "messageId": f"message-{number}",
                "receiptHandle": f"handle-{number}",
                "body": body,
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:111122223333:cleanup",
                "awsRegion": "us-east-1",
            }
            for number, body in enumerate(bodies)
        ]
    }


@pytest.fixture
def storage() -> Storage:
    return memory_storage()


@pytest.fixture
def around() -> Surroundings:
    return Surroundings()


Answer = dict[str, Any]
Handle = Callable[..., Answer]


@pytest.fixture
def handle(monkeypatch: pytest.MonkeyPatch, storage: Storage, around: Surroundings) -> Handle:
    """The handler over a store in memory; loaded when called, so that it logs to where the test captures."""

    def run(*bodies: str, seconds: int = 60) -> Answer:
        loaded = load(monkeypatch, "expiry_cleanup", CREDENTIAL_PREFIX="session-store/test")
        monkeypatch.setattr(loaded, "cleanup", around.cleanup(storage))
        answer: Answer = loaded.handler(sqs_event(*bodies), Context("expiry-cleanup", seconds=seconds))
        return answer

    return run


@pytest.mark.parametrize("malformed", MALFORMED)
def test_a_message_that_cannot_be_understood_fails_alone_and_is_not_quoted(
    handle: Handle, storage: Storage, capsys: pytest.CaptureFixture[str], malformed: str
) -> None:
    first, last = left_behind(storage, messages=2), left_behind(storage, messages=1)
    answer = handle(message_of(an_end(first)), malformed, message_of(an_end(last)))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "message-1"}]}
    for session in (first, last):
        assert messages_of(storage, session) == ()
        assert len(summaries(storage, session)) == 1
    printed = capsys.readouterr()
    assert "message-1" in printed.out
    assert "marker-9c2e" not in printed.out + printed.err


def test_a_message_of_a_session_that_has_not_ended_is_retried(handle: Handle, storage: Storage) -> None:
    session = a_session()
    storage.sessions.create(session)
    answer = handle(message_of(an_end(session)))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "message-0"}]}


def test_the_function_counts_and_sets_its_deadline(
    handle: Handle, storage: Storage, around: Surroundings, capsys: pytest.CaptureFixture[str]
) -> None:
    session = left_behind(storage, messages=3)
    answer = handle(message_of(an_end(session)), seconds=120)
    assert answer == {"batchItemFailures": []}
    assert 100 < around.deadline.remaining() <= 120
    (metrics,) = (json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line)
    assert (metrics["CleanedUp"], metrics["ChildrenDeleted"]) == ([1.0], [3.0])


COUNTS = ("CleanedUp", "SessionsExpired", "CredentialsRevoked", "CredentialsFailed")


@pytest.mark.parametrize(("reason", "expired"), [(EndReason.EXPIRED, 1.0), (EndReason.DELETED, 0.0)])
def test_expiries_and_credentials_are_counted_with_the_session_that_they_are_of(
    handle: Handle,
    around: Surroundings,
    capsys: pytest.CaptureFixture[str],
    reason: EndReason,
    expired: float,
) -> None:
    end = an_end(a_session(credential_refs=("kept", "also-kept", "missing")), reason=reason)
    for reference in ("kept", "also-kept"):
        around.keep_secret(end, reference, token="t")
    assert handle(message_of(end)) == {"batchItemFailures": []}
    (metrics,) = (json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line)
    assert [metrics[name] for name in COUNTS] == [[1.0], [expired], [2.0], [1.0]]


def test_a_failed_clean_up_is_counted_as_failed_only(
    handle: Handle, storage: Storage, capsys: pytest.CaptureFixture[str]
) -> None:
    session = a_session()
    storage.sessions.create(session)
    handle(message_of(an_end(session)))
    (metrics,) = (json.loads(line) for line in capsys.readouterr().out.splitlines() if "_aws" in line)
    assert metrics["CleanupFailed"] == [1.0]
    assert not set(COUNTS) & set(metrics)


def test_a_wrongly_configured_function_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="CREDENTIAL_PREFIX"):
        load(monkeypatch, "expiry_cleanup")
