"""The consumer on a real stream, in this process: each change once, and whenever it dies."""

import json
import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from local.emulator import Emulator
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.dead_letter import Quarantined
from session_store.domain.session import Session
from session_store.metric_names import COLD_START
from session_store.ports import Storage
from session_store.schema import SESSION_SK, Attribute, session_pk
from session_store.storage.dynamodb.session_items import session_item
from session_store.storage.dynamodb.stream_events import sequence_number
from session_store.storage.integrations.cleanup_queue import session_end_from
from tests.support.consumer import Consumer, KilledError, forbidding, killed_at, loaded_consumer
from tests.support.redrive import Places, deployed_places
from tests.support.samples import a_message, a_session, settings

WRITES: Final = ("PutItem", "PutItem", "PutItem", "PutObject", "PutItem", "SendMessage")
"""Of the consumer, for what ``a_whole_life`` writes."""


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


def metrics(out: str) -> Counter[str]:
    """The sum of each metric in the lines of CloudWatch's embedded metric format."""
    counted: Counter[str] = Counter()
    for line in out.splitlines():
        if line.startswith('{"_aws"'):
            metric = json.loads(line)
            for each in metric["_aws"]["CloudWatchMetrics"][0]["Metrics"]:
                counted[each["Name"]] += sum(metric[each["Name"]])
    return counted


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


def test_what_became_of_each_record_is_counted(
    places: Places, storage: Storage, consumer: Consumer, capsys: pytest.CaptureFixture[str]
) -> None:
    a_whole_life(places, storage)
    records = places.records()
    doomed = records[1]["dynamodb"]["Keys"]["sk"]
    capsys.readouterr()
    with forbidding(consumer, lambda item: item[Attribute.CHANGED_ITEM] == doomed) as refused:
        assert consumer.replay(records) == (1,)
    counted = {"Audited": 3, "Quarantined": 1, "Failed": 1, COLD_START: 1}
    assert metrics(capsys.readouterr().out) == counted
    assert refused["PutItem"] == 1


def test_a_change_in_very_many_places_is_audited(
    places: Places, storage: Storage, consumer: Consumer
) -> None:
    session = a_session(state={"list": [0] * 12_000})
    storage.sessions.create(session)
    changed = session_item(replace(session, version=2, state={"list": [1] * 12_000}), shards=4)
    places.client("dynamodb").put_item(TableName=places.table, Item=changed)
    assert consumer.replay(places.records()) == ()
    assert names(places) == ["SessionCreated", "SessionChanged"]


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
