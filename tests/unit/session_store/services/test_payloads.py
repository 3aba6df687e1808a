"""Large payloads are in the bucket before their item, and are read back exactly or not at all."""

import threading
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.json_values import encode
from session_store.domain.page import PageRequest
from session_store.domain.payload import StoredPayload
from session_store.domain.session import Session, Status
from session_store.errors import (
    ContentConflictError,
    IdempotencyMismatchError,
    MisdirectedError,
    PayloadMissingError,
    PayloadTooLargeError,
    SessionClosedError,
    SessionNotFoundError,
    ThrottledError,
)
from session_store.schema import message_sk, payload_key
from session_store.services.context import NewMessage
from session_store.services.home import Home
from session_store.services.payloads import INLINE_LIMIT, LARGEST, PARALLEL, Payloads
from session_store.services.tool_calls.record import RecordedCall
from tests.support.samples import ALICE, BOB, DAY, a_session, recorded
from tests.support.world import World

PAGE: PageRequest[Any] = PageRequest(limit=100)
EXACT = [Decimal("0.1"), 9007199254740993, Decimal("1E-7"), "ß", {"": None}]
LARGE = [*EXACT, "x" * INLINE_LIMIT]
HALF = "y" * (INLINE_LIMIT // 2)


def call(**changes: Any) -> RecordedCall:
    values: dict[str, Any] = {
        "tool_call_id": "c1",
        "tool_name": "search",
        "input": LARGE,
        "output": [1, *LARGE],
        "error": None,
        "duration_ms": 5,
        "started_at": None,
    }
    return RecordedCall(**{**values, **changes})


def texts(world: World) -> dict[str, bytes]:
    assert world.bucket is not None
    return world.bucket.texts


def message(world: World, content: Any) -> NewMessage:
    return NewMessage(content=content, message_id=world.ids.message_id(world.clock.now))


@pytest.mark.parametrize("atomic", [False, True])
def test_a_large_message_is_answered_kept_and_listed_as_it_was_given(world: World, *, atomic: bool) -> None:
    session = world.open()
    new = [message(world, LARGE), message(world, "small")]
    appended = world.store.context.append(ALICE, session.session_id, new, atomic=atomic)
    assert [each.content for each in appended.messages] == [LARGE, "small"]
    assert appended.created == 2
    large, small = world.memory.messages[session.session_id].values()
    assert isinstance(large.content, StoredPayload)
    assert small.content == "small"
    key = payload_key(session.session_id, message_sk(large.message_id), large.content.sha256)
    assert texts(world) == {key: encode(LARGE)}
    listed = world.store.context.page(ALICE, session.session_id, PAGE)
    assert list(listed.items) == list(appended.messages)


def test_up_to_300_kb_stand_in_the_item_and_a_byte_more_does_not(world: World) -> None:
    session_id = world.open().session_id
    world.store.context.append(ALICE, session_id, [NewMessage(content="x" * (INLINE_LIMIT - 2))])
    assert texts(world) == {}
    world.store.context.append(ALICE, session_id, [NewMessage(content="x" * (INLINE_LIMIT - 1))])
    (text,) = texts(world).values()
    assert len(text) == INLINE_LIMIT + 1


def test_one_mebibyte_is_the_most_that_one_append_brings(world: World) -> None:
    session_id = world.open().session_id
    world.store.context.append(ALICE, session_id, [NewMessage(content="x" * (LARGEST - 2))])
    for contents, path in (
        (["x" * (LARGEST - 1)], "$.messages[0].content"),
        (["x" * (LARGEST // 2 - 2), "x" * (LARGEST // 2 - 1)], "$.messages"),
    ):
        with pytest.raises(PayloadTooLargeError) as refused:
            world.store.context.append(ALICE, session_id, [NewMessage(content=each) for each in contents])
        assert refused.value.facts == {"path": path, "limit": LARGEST, "size": LARGEST + 1}
    assert len(texts(world)) == 1


@pytest.mark.parametrize("atomic", [False, True])
def test_a_replay_needs_no_object_and_writes_none(world: World, *, atomic: bool) -> None:
    session = world.open()
    new = [message(world, LARGE), message(world, [LARGE])]
    world.store.context.append(ALICE, session.session_id, new, atomic=atomic)
    world.store.sessions.move(ALICE, session.session_id, Status.CLOSING)
    texts(world).clear()
    again = world.store.context.append(ALICE, session.session_id, new, atomic=atomic)
    assert again.created == 0
    assert [each.content for each in again.messages] == [LARGE, [LARGE]]
    assert texts(world) == {}


def test_another_large_content_under_an_id_is_a_conflict(world: World) -> None:
    session = world.open()
    first = message(world, LARGE)
    world.store.context.append(ALICE, session.session_id, [first])
    with pytest.raises(ContentConflictError):
        world.store.context.append(ALICE, session.session_id, [replace(first, content=[LARGE])])
    assert [each.content for each in world.store.context.page(ALICE, session.session_id, PAGE).items] == [
        LARGE
    ]


def test_nothing_is_put_for_a_session_that_takes_no_messages(world: World) -> None:
    closed, others = world.open(status=Status.CLOSED), world.open(caller=BOB)
    with pytest.raises(SessionClosedError):
        world.store.context.append(ALICE, closed.session_id, [NewMessage(content=LARGE)])
    with pytest.raises(SessionNotFoundError):
        world.store.context.append(ALICE, others.session_id, [NewMessage(content=LARGE)])
    assert texts(world) == {}


def test_a_recorded_call_puts_its_largest_parts_aside_until_the_rest_fits(world: World) -> None:
    session = world.open()
    small = "z" * 1000
    for id_, parts, aside in (
        ("both", {"input": LARGE, "output": [1, *LARGE]}, {"input", "output"}),
        ("one", {"input": small, "output": LARGE}, {"output"}),
        ("halves", {"input": HALF + "y", "output": HALF}, {"input"}),
        ("failed", {"input": small, "output": None, "error": LARGE}, {"error"}),
        ("none", {"input": small, "output": small}, set()),
    ):
        recorded = world.store.recorded_calls.record(
            ALICE, session.session_id, call(tool_call_id=id_, **parts)
        )
        stored = next(
            each for each in world.memory.records[session.session_id].values() if each.tool_call_id == id_
        )
        assert {part for part in ("input", "output", "error") if is_aside(stored, part)} == aside
        assert world.store.tool_calls.get(ALICE, session.session_id, id_) == recorded.record
        for part, value in parts.items():
            assert getattr(recorded.record, part) == value
    _, page = world.store.tool_calls.history(ALICE, session.session_id, PAGE)
    assert {each.tool_call_id: each.input for each in page.items}["both"] == LARGE


def is_aside(record: Any, part: str) -> bool:
    return isinstance(getattr(record, part), StoredPayload)


@pytest.mark.parametrize("how", ["open", "closed", "deleted", "expired"])
def test_a_large_call_is_replayed_without_its_objects(world: World, how: str) -> None:
    session = world.open()
    recorded = world.store.recorded_calls.record(ALICE, session.session_id, call())
    if how == "closed":
        for step in (Status.CLOSING, Status.CLOSED):
            world.store.sessions.move(ALICE, session.session_id, step)
    elif how == "deleted":
        world.store.sessions.delete(ALICE, session.session_id)
    elif how == "expired":
        world.clock.pass_(DAY)
    texts(world).clear()
    again = world.store.recorded_calls.record(ALICE, session.session_id, call())
    assert (again.replayed, again.record) == (True, recorded.record)
    if how == "open":
        with pytest.raises(IdempotencyMismatchError):
            world.store.recorded_calls.record(ALICE, session.session_id, call(output=LARGE))


@pytest.mark.parametrize("damage", ["gone", "another", "cut"])
def test_an_object_that_is_not_as_it_was_stored_is_an_error_and_never_a_content(
    world: World, damage: str
) -> None:
    session = world.open()
    world.store.context.append(ALICE, session.session_id, [message(world, LARGE)])
    world.store.recorded_calls.record(ALICE, session.session_id, call(output=None))
    for key, text in list(texts(world).items()):
        if damage == "gone":
            del texts(world)[key]
        else:
            texts(world)[key] = encode("marker") if damage == "another" else text[:-1]
    reads: Mapping[str, Any] = {
        "page": lambda: world.store.context.page(ALICE, session.session_id, PAGE),
        "get": lambda: world.store.tool_calls.get(ALICE, session.session_id, "c1"),
        "history": lambda: world.store.tool_calls.history(ALICE, session.session_id, PAGE),
    }
    for read in reads.values():
        with pytest.raises(PayloadMissingError) as failed:
            read()
        assert failed.value.facts["size"] == len(encode(LARGE))
        assert "marker" not in str(failed.value)


def test_where_the_bucket_was_taken_away_what_lay_in_it_is_missing(world: World) -> None:
    session = world.open()
    world.store.context.append(ALICE, session.session_id, [message(world, LARGE)])
    world.bucket = None
    with pytest.raises(PayloadMissingError):
        world.seen_from(session.home_region).context.page(ALICE, session.session_id, PAGE)


def test_another_region_serves_what_is_replicated_and_sends_home_for_what_is_not(world: World) -> None:
    session = world.open()
    world.store.context.append(ALICE, session.session_id, [message(world, "small")])
    world.store.recorded_calls.record(ALICE, session.session_id, call(input="small", output="small"))
    abroad = world.seen_from("eu-west-1")
    assert [each.content for each in abroad.context.page(ALICE, session.session_id, PAGE).items] == ["small"]
    world.store.context.append(ALICE, session.session_id, [message(world, LARGE)])
    world.store.recorded_calls.record(ALICE, session.session_id, call(tool_call_id="c2"))
    for read in (
        lambda: abroad.context.page(ALICE, session.session_id, PAGE),
        lambda: abroad.tool_calls.get(ALICE, session.session_id, "c2"),
        lambda: abroad.tool_calls.history(ALICE, session.session_id, PAGE),
    ):
        with pytest.raises(MisdirectedError) as sent_home:
            read()
        assert sent_home.value.facts == {"homeRegion": session.home_region}
    assert recorded(abroad.tool_calls.get(ALICE, session.session_id, "c1")).output == "small"


def test_nothing_of_a_session_that_has_expired_is_served(world: World) -> None:
    session = world.open(idle_timeout=60)
    world.store.context.append(ALICE, session.session_id, [message(world, LARGE)])
    world.clock.pass_(61)
    with pytest.raises(SessionNotFoundError):
        world.store.context.page(ALICE, session.session_id, PAGE)


class Bucket:
    """Returns one text for every key, counts concurrent reads, and refuses writes."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()
        self._full = threading.Barrier(PARALLEL)

    def put(self, key: str, text: bytes) -> None:
        del key, text
        raise ThrottledError

    def get(self, key: str) -> bytes | None:
        del key
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        self._full.wait(10)
        with self._lock:
            self._now -= 1
        return self.text

    def erase_some(self, session_id: str) -> bool:
        raise NotImplementedError


def payloads_on(bucket: Bucket, session: Session) -> Payloads:
    return Payloads(storage=lambda: bucket, home=Home(region=session.home_region))


def test_objects_are_fetched_several_at_a_time_and_never_more() -> None:
    session = a_session()
    bucket = Bucket(b"[1]")
    stored = StoredPayload(size=3, sha256="080a9ed428559ef602668b4c00f114f1a11c3f6b02a435f0bdc154578e4d7f22")
    wanted = [(f"sk-{number}", stored) for number in range(4 * PARALLEL)]
    assert payloads_on(bucket, session).load(session.session_id, wanted, home=session.home_region) == [
        [1]
    ] * len(wanted)
    assert bucket.most == PARALLEL


def test_a_bucket_that_takes_nothing_leaves_nothing_done(world: World) -> None:
    session = world.open()
    bucket = Bucket(b"")
    context = replace(world.store.context, payloads=payloads_on(bucket, session))
    with pytest.raises(ThrottledError):
        context.append(ALICE, session.session_id, [message(world, "small"), message(world, LARGE)])
    assert world.memory.messages.get(session.session_id, {}) == {}
    calls = replace(world.store.recorded_calls, payloads=payloads_on(bucket, session))
    with pytest.raises(ThrottledError):
        calls.record(ALICE, session.session_id, call())
    assert world.memory.claims == {}
