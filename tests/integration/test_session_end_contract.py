"""What the ports promise that the end of a session needs."""

import secrets as random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from local.emulator import Emulator
from local.event_listener import BusEvent, EventListener
from session_store.domain.erasure import Erasure
from session_store.domain.expiry_mark import ExpiryMark, apply_mark
from session_store.domain.notice import MAX_NOTICES, Notice, session_ended
from session_store.domain.page import PageRequest
from session_store.domain.session import Author, Session, Status
from session_store.domain.session_write import PREDECESSORS, Transition
from session_store.domain.times import iso
from session_store.errors import SessionNotFoundError
from session_store.ports import EventBus, PayloadStorage, SecretStorage, Storage
from session_store.schema import checkpoint_sk, claim_sk, message_sk, record_sk, session_pk
from session_store.storage.integrations.event_bus import EventBridgeBus
from session_store.storage.integrations.payload_bucket import PayloadBucket
from session_store.storage.integrations.secrets_manager import SecretsManager
from session_store.storage.memory.surroundings import MemoryBus, MemoryPayloads, MemorySecrets
from tests.support.ended import an_end, left_behind, messages_of
from tests.support.samples import (
    NOW_MS,
    NOW_SECONDS,
    REGION,
    a_call,
    a_checkpoint,
    a_message,
    a_session,
    a_settlement,
    a_slide,
    a_write,
    an_event,
)

WATCH = Author(principal="watch", request_id="run-1")


def a_mark(session: Session, **changes: Any) -> ExpiryMark:
    mark = ExpiryMark(session_id=session.session_id, ttl=session.ttl, region=REGION, author=WATCH)
    return replace(mark, **changes)


def test_a_mark_is_set_once_and_leaves_the_version(storage: Storage) -> None:
    session = a_session()
    storage.sessions.create(session)
    assert storage.sessions.mark_warned(a_mark(session))
    assert not storage.sessions.mark_warned(a_mark(session))
    after = storage.sessions.read(session.session_id)
    assert after == apply_mark(session, a_mark(session))
    assert (after.warned_ttl, after.version, after.updated_by) == (session.ttl, session.version, WATCH)


def test_a_session_that_moved_on_is_not_marked(storage: Storage) -> None:
    session = a_session()
    storage.sessions.create(session)
    slid = storage.sessions.slide(a_slide(session, now_ms=NOW_MS + 400_000))
    assert slid is not None
    assert not storage.sessions.mark_warned(a_mark(session))
    assert storage.sessions.read(session.session_id) == slid
    assert storage.sessions.mark_warned(a_mark(slid))


@pytest.mark.parametrize("changes", [{"region": "eu-west-1"}, {"ttl": 1}])
def test_a_mark_from_elsewhere_is_not_set(storage: Storage, changes: dict[str, Any]) -> None:
    session = a_session()
    storage.sessions.create(session)
    assert not storage.sessions.mark_warned(a_mark(session, **changes))
    assert storage.sessions.read(session.session_id) == session


def test_a_mark_makes_no_session(storage: Storage) -> None:
    session = a_session()
    assert not storage.sessions.mark_warned(a_mark(session))
    assert storage.sessions.read(session.session_id) is None


def test_the_list_of_expiring_sessions_shows_the_mark(storage: Storage) -> None:
    far = NOW_SECONDS + 10**8 + random.randbelow(10**6) * 100
    session = a_session(ttl=far)
    storage.sessions.create(session)

    def shown() -> int | None:
        found = storage.sessions.page_expiring(
            Status.ACTIVE, now_ms=(far - 1) * 1000, until=far, page=PageRequest(limit=10)
        )
        (listed,) = found.items
        return listed.warned_ttl

    assert shown() is None
    storage.sessions.mark_warned(a_mark(session))
    assert shown() == far


def test_a_write_for_what_ends_by_a_time_spares_what_ends_later(storage: Storage) -> None:
    session = a_session()
    storage.sessions.create(session)
    statuses = PREDECESSORS[Status.CLOSING]
    drain = a_write(session, Transition(to=Status.CLOSING), statuses=statuses, ends_by=session.ttl - 1)
    with pytest.raises(SessionNotFoundError):
        storage.sessions.write(drain)
    assert storage.sessions.read(session.session_id) == session
    drain = a_write(session, Transition(to=Status.CLOSING), statuses=statuses, ends_by=session.ttl)
    assert storage.sessions.write(drain).status is Status.CLOSING


def test_children_of_every_kind_come_in_order_and_never_the_metadata(storage: Storage) -> None:
    session = a_session()
    storage.sessions.create(session)
    message = a_message(session)
    storage.messages.put(message)
    claim, record = a_call(session, "a#b")
    storage.tool_calls.settle(a_settlement(claim, record, an_event(session)))
    checkpoint = a_checkpoint(session, namespace="n")
    storage.checkpoints.put(checkpoint)
    every = [
        claim_sk("a#b"),
        checkpoint_sk("n", checkpoint.checkpoint_id),
        message_sk(message.message_id),
        record_sk(iso(NOW_MS), "a#b"),
    ]
    assert storage.children.first(session.session_id, limit=10) == every
    assert storage.children.first(session.session_id, limit=2) == every[:2]
    storage.children.erase(session.session_id, every[:3])
    # Behind a page that holds the metadata alone there may be more.
    assert storage.children.first(session.session_id, limit=1) == every[3:]
    storage.children.erase(session.session_id, every)
    assert storage.children.first(session.session_id, limit=10) == []
    assert storage.sessions.read(session.session_id) == session


def test_any_number_of_children_is_erased_and_nobody_elses(storage: Storage) -> None:
    session, other = left_behind(storage, messages=60), left_behind(storage, messages=1)
    sks = storage.children.first(session.session_id, limit=100)
    assert len(sks) == 60
    storage.children.erase(session.session_id, sks)
    storage.children.erase(session.session_id, [])
    assert messages_of(storage, session) == ()
    assert len(messages_of(storage, other)) == 1


def test_how_far_an_erasure_is_moves_from_what_was_kept_alone(storage: Storage) -> None:
    session_id = a_session().session_id
    assert storage.children.read_erasure(session_id) == Erasure()
    first, second = Erasure(counted=3, up_to="c"), Erasure(counted=5, up_to="e")
    ttl = NOW_SECONDS + 100
    assert storage.children.advance(session_id, Erasure(), first, ttl=ttl) == first
    stale = Erasure(counted=9, up_to="z")
    assert storage.children.advance(session_id, Erasure(), stale, ttl=ttl) == first
    assert storage.children.advance(session_id, first, second, ttl=ttl) == second
    assert storage.children.advance(session_id, first, stale, ttl=ttl) == second
    assert storage.children.read_erasure(session_id) == second


def test_how_far_an_erasure_is_stands_in_no_trail(storage: Storage) -> None:
    session_id = a_session().session_id
    storage.children.advance(session_id, Erasure(), Erasure(counted=1, up_to="a"), ttl=NOW_SECONDS + 100)
    assert storage.audit.page(session_pk(session_id), PageRequest(limit=10)).items == ()
    assert storage.children.first(session_id, limit=10) == []


def test_an_event_is_kept_once_and_the_first_stands(storage: Storage) -> None:
    session = a_session()
    event = replace(an_event(session, "SessionEnded"), facts={"childrenDeleted": 3, "list": [{"a": None}]})
    assert storage.audit.put_event(event) is None
    assert storage.audit.put_event(event) is None
    standing = storage.audit.put_event(replace(event, facts={"childrenDeleted": 4}))
    assert standing is not None
    assert standing.facts == event.facts
    (entry,) = storage.audit.page(session_pk(session.session_id), PageRequest(limit=10)).items
    assert entry == standing
    assert (entry.kind, entry.event_name, entry.at) == ("event", "SessionEnded", NOW_MS)


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A bus, and how its receivers hear so many events."""

    bus: EventBus
    hear: Callable[[int], Sequence[BusEvent]]


def memory_bus() -> Heard:
    bus = MemoryBus()
    return Heard(
        bus=bus,
        hear=lambda _: [
            BusEvent(source="session-store", name=notice.name.value, detail=notice.detail)
            for notice in bus.notices
        ],
    )


def emulated_bus(emulator: Emulator) -> Heard:
    events = emulator.client("events")
    name = f"bus-{random.token_hex(4)}"
    events.create_event_bus(Name=name)
    listener = EventListener(emulator, bus=name)
    return Heard(bus=EventBridgeBus(events=events, name=name), hear=listener.wait_for_events)


@pytest.fixture(params=["eventbridge", "memory"])
def heard(request: pytest.FixtureRequest) -> Heard:
    return memory_bus() if request.param == "memory" else emulated_bus(request.getfixturevalue("emulator"))


def test_what_is_told_is_heard_whole(heard: Heard) -> None:
    notices: list[Notice] = [
        session_ended(an_end(a_session()), {"childrenDeleted": number, "ünï": ["ß"]}, region=REGION)
        for number in range(MAX_NOTICES)
    ]
    heard.bus.emit(notices)
    received = heard.hear(MAX_NOTICES)
    assert {(event.source, event.name) for event in received} == {("session-store", "SessionEnded")}
    by_number = {event.detail["childrenDeleted"]: event.detail for event in received}
    assert by_number == {notice.detail["childrenDeleted"]: notice.detail for notice in notices}


@pytest.fixture(params=["secretsmanager", "memory"])
def secrets(request: pytest.FixtureRequest) -> Iterator[tuple[SecretStorage, str]]:
    """Secrets, and the name of one whose text is ``text``."""
    name = f"session-store/test/{random.token_hex(16)}/a+b=c@d.e"
    if request.param == "memory":
        yield MemorySecrets(texts={name: "text"}), name
    else:
        client = request.getfixturevalue("emulator").client("secretsmanager")
        client.create_secret(Name=name, SecretString="text")
        yield SecretsManager(client=client), name


def test_a_secret_is_read_by_its_name_and_another_is_none(secrets: tuple[SecretStorage, str]) -> None:
    storage, name = secrets
    assert storage.read(name) == "text"
    assert storage.read(f"{name}-not") is None
    assert storage.read(name[:-1]) is None


@dataclass(frozen=True, kw_only=True)
class Objects:
    """Payloads, and which keys there are."""

    payloads: PayloadStorage
    put: Callable[[str], object]
    keys: Callable[[], set[str]]


@pytest.fixture(params=["s3", "memory"])
def objects(request: pytest.FixtureRequest) -> Objects:
    if request.param == "memory":
        memory = MemoryPayloads()
        return Objects(payloads=memory, put=lambda key: memory.put(key, b"x"), keys=lambda: set(memory.texts))
    s3 = request.getfixturevalue("emulator").client("s3")
    bucket = f"payloads-{random.token_hex(4)}"
    s3.create_bucket(Bucket=bucket)
    return Objects(
        payloads=PayloadBucket(s3=s3, bucket=bucket),
        put=lambda key: s3.put_object(Bucket=bucket, Key=key, Body=b"x"),
        keys=lambda: {entry["Key"] for entry in s3.list_objects_v2(Bucket=bucket).get("Contents", [])},
    )


def test_the_payloads_of_a_session_are_erased_and_nobody_elses(objects: Objects) -> None:
    mine, other = a_session().session_id, a_session().session_id
    others = {f"{other}/a", f"{mine}0/a", mine, f"x/{mine}/a"}
    for key in (f"{mine}/a", f"{mine}/b/c", *others):
        objects.put(key)
    assert not objects.payloads.erase_some(mine)
    assert objects.keys() == others
    assert not objects.payloads.erase_some(mine)


def test_more_payloads_than_one_page_take_more_than_one(objects: Objects) -> None:
    mine = a_session().session_id
    for number in range(1001):
        objects.put(f"{mine}/{number:04}")
    assert objects.payloads.erase_some(mine)
    assert not objects.payloads.erase_some(mine)
    assert objects.keys() == set()
