"""The settings of redrive are complete or absent; without them there are no dead letters."""

import pytest

from session_store.bootstrap import open_dead_letters, open_store
from session_store.deadline import Deadline
from session_store.domain.dead_letter import QueueName
from session_store.errors import ConfigurationError, NotFoundError
from session_store.schema import RedriveEnv
from session_store.settings import RedriveSettings, read_redrive_settings
from session_store.storage.integrations.dead_letter_queue import SqsDeadLetterQueue
from tests.support.samples import settings

ENVIRONMENT = {
    "STREAM_DEAD_LETTERS_URL": "https://sqs/stream",
    "CLEANUP_DEAD_LETTERS_URL": "https://sqs/cleanup",
    "CLEANUP_QUEUE_URL": "https://sqs/queue",
    "CONSUMER_FUNCTION": "consumer",
    "QUARANTINE_BUCKET": "bucket",
}
REDRIVE = RedriveSettings(
    stream_dead_letters_url="https://sqs/stream",
    cleanup_dead_letters_url="https://sqs/cleanup",
    cleanup_queue_url="https://sqs/queue",
    consumer_function="consumer",
    quarantine_bucket="bucket",
)


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")


def test_every_variable_is_read() -> None:
    assert read_redrive_settings(ENVIRONMENT) == REDRIVE


@pytest.mark.parametrize("name", sorted(ENVIRONMENT))
def test_one_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        read_redrive_settings({key: value for key, value in ENVIRONMENT.items() if key != name})


def test_without_the_settings_there_are_no_dead_letters() -> None:
    environment = {key: value for key, value in ENVIRONMENT.items() if key not in set(RedriveEnv)}
    assert read_redrive_settings(environment) is None
    with pytest.raises(NotFoundError, match="no dead-letter queues"):
        open_store(settings()).dead_letters()


def test_the_clients_are_created_once_at_first_use() -> None:
    store = open_store(settings(), REDRIVE)
    dead_letters = store.dead_letters()
    assert store.dead_letters() is dead_letters
    assert dead_letters.deadline is store.deadline


def test_each_queue_is_the_one_of_its_name() -> None:
    opened = open_dead_letters(settings(), REDRIVE, deadline=Deadline(), replay_seconds=6)
    urls = {name: queue.url for name, queue in opened.queues.items() if isinstance(queue, SqsDeadLetterQueue)}
    assert urls == {QueueName.STREAM: "https://sqs/stream", QueueName.CLEANUP: "https://sqs/cleanup"}


def test_the_consumer_is_waited_for_as_long_as_is_said_and_asked_once() -> None:
    opened = open_dead_letters(settings(), REDRIVE, deadline=Deadline(), replay_seconds=6)
    config = opened.replays.consumer.client.meta.config  # type: ignore[attr-defined] # of the adapter
    assert config.read_timeout == 6
    assert config.retries["total_max_attempts"] == 1
    assert opened.letter_seconds > opened.replays.batch_seconds > 6
