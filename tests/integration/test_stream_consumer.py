"""The consumer on a real stream: each change once and in order, whatever comes and whenever it dies."""

import itertools
import json
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from infra.audit_consumer import ATTEMPTS, BATCH
from local.emulator import Emulator
from local.streams.deployed import DeadLetters
from local.streams.mapping import EventSourceMapping, Settings
from local.streams.reader import Pauses, Progress, ShardReader
from local.streams.runner import StoppableClock
from local.streams.source import ShardSource, Stream
from local.streams.swept import SweptRecords
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.dead_letter import Outcome, Quarantined, QueueName
from session_store.domain.session import Session
from session_store.ports import Storage
from session_store.schema import SESSION_SK, Attribute, message_sk, session_pk
from session_store.storage.cleanup_queue import session_end_from
from session_store.storage.stream_events import sequence_number
from tests.support.consumer import Consumer, KilledError, forbidding, killed_at, loaded_consumer
from tests.support.redrive import Places, deployed_places
from tests.support.samples import a_message, a_session, settings

SESSIONS: Final = 10
ROUNDS: Final = 100
"""As many records a session: a thousand in all."""

MOST_BATCHES: Final = 500
WRITES: Final = ("PutItem", "PutItem", "PutItem", "PutObject", "PutItem", "SendMessage")
"""Of the consumer, for what ``a_whole_life`` writes."""

Record = Mapping[str, Any]


@pytest.fixture
def places(emulator: Emulator, tmp_path: Path) -> Iterator[Places]:
    with deployed_places(emulator, tmp_path) as deployed:
        yield deployed


@pytest.fixture
def consumer(places: Places, monkeypatch: pytest.MonkeyPatch) -> Iterator[Consumer]:
    with loaded_consumer(places, monkeypatch) as loaded:
        yield loaded


@pytest.fixture
def storage(places: Places) -> Storage:
    names = settings(table=places.table, audit_table=places.audit_table)
    return dynamodb_storage(names, places.client("dynamodb"), Deadline())


def put_unknown(places: Places, session_id: str) -> None:
    """What no version of the store writes."""
    item = {"pk": {"S": session_pk(session_id)}, "sk": {"S": f"strange#{secrets.token_hex(4)}"}}
    places.client("dynamodb").put_item(TableName=places.table, Item={**item, "entity": {"S": "hologram"}})


def rows(places: Places) -> list[dict[str, Any]]:
    """All of the audit table, each partition in the order of its keys."""
    pages = places.client("dynamodb").get_paginator("scan").paginate(TableName=places.audit_table)
    found = [item for page in pages for item in page["Items"]]
    return sorted(found, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))


def numbers(records: list[Any]) -> dict[str, list[str]]:
    """Sequence numbers by partition, of records or rows in their order."""
    found: dict[str, list[str]] = {}
    for record in records:
        change = record.get("dynamodb")
        pk = (change["Keys"] if change else record)["pk"]["S"]
        number = sequence_number(record) if change else record[Attribute.SEQUENCE_NUMBER]["S"]
        found.setdefault(pk, []).append(number)
    return found


def deliver(places: Places, consumer: Consumer, folder: Path) -> list[str]:
    """The whole shard from its beginning, as the deployed mapping is delivered; how far it came, in order."""
    mapping = EventSourceMapping(
        name="consumer",
        function_arn="arn:aws:lambda:us-east-1:000000000000:function:consumer",
        stream_arn=places.stream,
        dead_letter_arn=f"arn:aws:sqs:us-east-1:000000000000:redrive-stream-{places.name}",
        settings=Settings(batch_size=BATCH, bisects=True, max_retries=ATTEMPTS, reports_failures=True),
    )
    clock, reached = StoppableClock(), list[str]()
    letters = DeadLetters(
        sqs=places.client("sqs"), mapping=mapping, shard_id=places.shard_id, clock=clock, say=print
    )
    reader = ShardReader(
        settings=mapping.settings,
        source=ShardSource(
            stream=Stream(client=places.client("dynamodbstreams"), arn=places.stream),
            shard_id=places.shard_id,
            after=None,
            swept=SweptRecords(folder / "swept.jsonl"),
            say=print,
        ),
        function=consumer,
        discard=letters.discard,
        checkpoint=reached.append,
        clock=clock,
        pauses=Pauses(first_retry=0.0, longest_retry=0.0),
    )
    for _ in range(MOST_BATCHES):
        if reader.deliver_next() is not Progress.MOVED:
            return reached
    raise AssertionError("the shard is blocked")


def a_thousand_records(places: Places, storage: Storage) -> tuple[str, str]:
    """Of ten sessions in turn; the keys of the message that is to fail. One record is of no known kind."""
    sessions = [a_session() for _ in range(SESSIONS)]
    doomed = a_message(sessions[5], "doomed")
    for place, session in itertools.product(range(ROUNDS), sessions):
        if place == 0:
            storage.sessions.create(session)
        elif (place, session) == (ROUNDS // 2, sessions[5]):
            storage.messages.put(doomed)
        elif (place, session) == (ROUNDS // 2, sessions[2]):
            put_unknown(places, session.session_id)
        else:
            storage.messages.put(a_message(session, place))
    return session_pk(doomed.session_id), message_sk(doomed.message_id)


def test_of_a_thousand_records_two_bad_ones_hold_nothing_up(
    places: Places, storage: Storage, consumer: Consumer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doomed = a_thousand_records(places, storage)
    records = places.records()
    assert len(records) == SESSIONS * ROUNDS
    (strange,) = (r for r in records if r["dynamodb"]["NewImage"]["entity"]["S"] == "hologram")
    (failing,) = (
        r for r in records if (r["dynamodb"]["Keys"]["pk"]["S"], r["dynamodb"]["Keys"]["sk"]["S"]) == doomed
    )
    capsys.readouterr()
    with forbidding(
        consumer, lambda item: (item["pk"]["S"], item[Attribute.CHANGED_ITEM]["S"]) == doomed
    ) as refused:
        reached = deliver(places, consumer, tmp_path)
    counted = metrics(capsys.readouterr().out)
    audited = [record for record in records if record not in (strange, failing)]
    assert len(audited) == 998
    assert numbers(rows(places)) == numbers(audited)
    assert reached[-1] == sequence_number(records[-1])
    assert refused["PutItem"] >= 1 + ATTEMPTS
    assert_kept_whole(places, strange)
    assert counted["Quarantined"] == 1
    assert counted["Failed"] > 0
    assert counted["Audited"] >= 998
    assert_pointed_to(places, failing)
    # Mended, the letter is done again: what was missing comes into its place.
    (letter,) = places.redrive(consumer=consumer).letters
    assert (letter.outcome, letter.records) == (Outcome.REPLAYED, 1)
    assert numbers(rows(places)) == numbers([record for record in records if record is not strange])


def metrics(out: str) -> Counter[str]:
    """The sum of each metric in the lines of CloudWatch's embedded metric format."""
    counted: Counter[str] = Counter()
    for line in out.splitlines():
        if line.startswith('{"_aws"'):
            metric = json.loads(line)
            for each in metric["_aws"]["CloudWatchMetrics"][0]["Metrics"]:
                counted[each["Name"]] += sum(metric[each["Name"]])
    return counted


def assert_kept_whole(places: Places, record: Record) -> None:
    (kept,) = places.client("s3").list_objects_v2(Bucket=places.table)["Contents"]
    body = places.client("s3").get_object(Bucket=places.table, Key=kept["Key"])["Body"].read()
    assert json.loads(body)["record"] == record
    assert places.dead_letters().quarantine.count() == Quarantined(records=1, more=False)


def assert_pointed_to(places: Places, record: Record) -> None:
    """One letter, of this record alone."""
    (letter,) = places.queue(QueueName.STREAM).receive(most=10, hidden=0)
    number = sequence_number(record)
    assert str(letter.contents).endswith(f"from {number} to {number}")
    assert letter.condition == "RetryAttemptsExhausted"


def a_whole_life(places: Places, storage: Storage) -> Session:
    """Created, two messages, something strange, and removed: five records."""
    session = a_session(credential_refs=("github/token",))
    storage.sessions.create(session)
    for text in ("a", "b"):
        storage.messages.put(a_message(session, text))
    put_unknown(places, session.session_id)
    key = {"pk": {"S": session_pk(session.session_id)}, "sk": {"S": SESSION_SK}}
    places.client("dynamodb").delete_item(TableName=places.table, Key=key)
    return session


def names(places: Places) -> list[str]:
    return [row[Attribute.EVENT_NAME]["S"] for row in rows(places)]


LIFE: Final = ["SessionCreated", "MessageCreated", "MessageCreated", "SessionRemoved"]


def test_a_batch_that_is_delivered_three_times_is_audited_once(
    places: Places, storage: Storage, consumer: Consumer
) -> None:
    a_whole_life(places, storage)
    records = places.records()
    assert consumer.replay(records) == ()
    once = rows(places)
    for _ in range(2):
        assert consumer.replay(records) == ()
    assert rows(places) == once
    assert names(places) == LIFE
    assert places.dead_letters().quarantine.count() == Quarantined(records=1, more=False)


def test_these_are_all_the_writes_of_the_consumer(
    places: Places, storage: Storage, consumer: Consumer
) -> None:
    a_whole_life(places, storage)
    with killed_at(consumer, None, after=False) as begun:
        assert consumer.replay(places.records()) == ()
    assert tuple(begun) == WRITES


@pytest.mark.filterwarnings("ignore:No application metrics")  # of what died at the first of its writes
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", range(len(WRITES)), ids=[f"{n}-{w}" for n, w in enumerate(WRITES)])
def test_a_consumer_that_is_killed_at_any_write_loses_and_repeats_nothing(
    places: Places, storage: Storage, consumer: Consumer, number: int, *, after: bool
) -> None:
    session = a_whole_life(places, storage)
    records = places.records()
    with killed_at(consumer, number, after=after) as begun, pytest.raises(KilledError):
        consumer.replay(records)
    assert tuple(begun) == WRITES[: number + 1]
    assert consumer.replay(records) == ()
    assert names(places) == LIFE
    assert numbers(rows(places)) == numbers([*records[:3], records[4]])
    assert places.dead_letters().quarantine.count() == Quarantined(records=1, more=False)
    ends = [session_end_from(body) for body in places.bodies("again")]
    sent_twice = after and WRITES[number] == "SendMessage"
    assert [(end.session_id, end.credential_refs) for end in ends] == [
        (session.session_id, ("github/token",))
    ] * (2 if sent_twice else 1)
