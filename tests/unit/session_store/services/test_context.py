"""The transcript: each message is stored once."""

from typing import Any

import pytest

from session_store.domain.identifiers import message_time
from session_store.domain.json_values import digest
from session_store.domain.page import PageRequest
from session_store.domain.session import Status
from session_store.errors import (
    ContentConflictError,
    InvalidRequestError,
    MisdirectedError,
    PayloadTooLargeError,
    SessionClosedError,
    SessionNotFoundError,
)
from session_store.services.context import Appended, NewMessage
from session_store.services.payloads import INLINE_LIMIT
from tests.support.samples import ALICE, BOB, DAY, NOW_MS, NOW_SECONDS
from tests.support.world import World


def append(world: World, session_id: str, *new: NewMessage, atomic: bool = False) -> Appended:
    return world.store.context.append(ALICE, session_id, new, atomic=atomic)


def message(world: World, content: Any, *, off_ms: int = 0) -> NewMessage:
    """A message with an id of the caller's, ``off_ms`` off the server's clock."""
    message_id = world.ids.message_id(world.clock.now + off_ms)
    return NewMessage(content=content, message_id=message_id)


def transcript(world: World, session_id: str, *, limit: int = 100, **page: Any) -> list[Any]:
    request: PageRequest[Any] = PageRequest(limit=limit, **page)
    return [found.content for found in world.store.context.page(ALICE, session_id, request).items]


@pytest.mark.parametrize("atomic", [False, True])
def test_messages_are_kept_in_order(world: World, *, atomic: bool) -> None:
    session_id = world.open().session_id
    contents = ["a", {"b": [1, None]}, "", [], 0]
    appended = append(world, session_id, *(NewMessage(content=c) for c in contents), atomic=atomic)
    assert appended.created
    assert [found.content for found in appended.messages] == contents
    assert transcript(world, session_id) == contents


def test_a_message_is_minted_an_id_and_lives_as_long_as_its_session_may(world: World) -> None:
    session = world.open()
    (kept,) = append(world, session.session_id, NewMessage(content={"a": 1})).messages
    assert message_time(kept.message_id) == NOW_MS
    assert (kept.appended_at, kept.ttl) == (NOW_MS, NOW_SECONDS + 30 * DAY)
    assert kept.content_hash == digest({"a": 1})
    assert kept.author.request_id == ALICE.request_id


@pytest.mark.parametrize("atomic", [False, True])
def test_the_same_id_and_content_is_a_replay(world: World, *, atomic: bool) -> None:
    session_id = world.open().session_id
    new = [message(world, {"a": 1, "b": 2}), message(world, "second")]
    first = append(world, session_id, *new, atomic=atomic)
    world.clock.pass_(1)
    reordered = NewMessage(content={"b": 2, "a": 1}, message_id=new[0].message_id)
    again = append(world, session_id, reordered, new[1], atomic=atomic)
    assert again == Appended(messages=first.messages, created=0)


@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize("status", [Status.ACTIVE, Status.CLOSING, Status.CLOSED])
def test_the_same_id_with_another_content_is_a_conflict(
    world: World, status: Status, *, atomic: bool
) -> None:
    session_id = world.open().session_id
    new = message(world, "a")
    append(world, session_id, new)
    for step in (Status.CLOSING, Status.CLOSED)[: list(Status).index(status) - 1]:
        world.store.sessions.move(ALICE, session_id, step)
    with pytest.raises(ContentConflictError) as refused:
        append(world, session_id, NewMessage(content="b", message_id=new.message_id), atomic=atomic)
    assert refused.value.facts == {"messageIds": [new.message_id]}
    assert transcript(world, session_id) == ["a"]


def test_a_replay_mixed_with_a_new_message_writes_the_new_one(world: World) -> None:
    session_id = world.open().session_id
    first, second = message(world, "first"), message(world, "second")
    append(world, session_id, first)
    for atomic in (False, True):
        third = message(world, "third", off_ms=int(atomic))
        mixed = append(world, session_id, first, second, third, atomic=atomic)
        assert mixed.created
    assert transcript(world, session_id) == ["first", "second", "third", "third"]


def test_beside_a_conflict_the_others_are_written_unless_atomic(world: World) -> None:
    session_id = world.open().session_id
    taken = message(world, "taken")
    append(world, session_id, taken)
    other = NewMessage(content="other", message_id=taken.message_id)
    with pytest.raises(ContentConflictError):
        append(world, session_id, message(world, "new"), other, atomic=True)
    assert transcript(world, session_id) == ["taken"]
    with pytest.raises(ContentConflictError):
        append(world, session_id, message(world, "new"), other)
    assert transcript(world, session_id) == ["taken", "new"]


@pytest.mark.parametrize("status", [Status.CLOSING, Status.CLOSED])
def test_a_replay_is_a_success_whatever_the_status(world: World, status: Status) -> None:
    session_id = world.open().session_id
    new = message(world, "a")
    first = append(world, session_id, new)
    world.store.sessions.move(ALICE, session_id, Status.CLOSING)
    if status is Status.CLOSED:
        world.store.sessions.move(ALICE, session_id, Status.CLOSED)
    world.clock.pass_(600)
    assert append(world, session_id, new) == Appended(messages=first.messages, created=0)
    with pytest.raises(SessionClosedError) as refused:
        append(world, session_id, new, message(world, "late"))
    assert refused.value.facts == {"sessionStatus": status.value}
    with pytest.raises(SessionClosedError):
        append(world, session_id, NewMessage(content="late"))
    assert transcript(world, session_id) == ["a"]


@pytest.mark.parametrize("off_ms", [300_001, -300_001, -DAY * 1000])
def test_a_new_id_more_than_five_minutes_off_is_refused_and_nothing_is_written(
    world: World, off_ms: int
) -> None:
    session_id = world.open().session_id
    on_time, off = message(world, "ok", off_ms=min(off_ms, 0)), message(world, "off", off_ms=off_ms)
    on_time = NewMessage(content="ok")
    with pytest.raises(InvalidRequestError) as refused:
        append(world, session_id, on_time, off)
    assert refused.value.facts["path"] == "$.messages[1].messageId"
    assert transcript(world, session_id) == []


def test_a_new_id_five_minutes_off_is_admitted(world: World) -> None:
    session_id = world.open().session_id
    append(world, session_id, message(world, "past", off_ms=-300_000))
    append(world, session_id, message(world, "future", off_ms=300_000))
    assert transcript(world, session_id) == ["past", "future"]


def test_a_replay_is_a_success_however_old(world: World) -> None:
    session_id = world.open(idle_timeout=7200).session_id
    new = message(world, "a")
    first = append(world, session_id, new)
    world.clock.pass_(3600)
    assert append(world, session_id, new) == Appended(messages=first.messages, created=0)
    mixed = append(world, session_id, new, NewMessage(content="b"))
    assert mixed.created
    with pytest.raises(ContentConflictError):
        append(world, session_id, NewMessage(content="c", message_id=new.message_id))
    assert transcript(world, session_id) == ["a", "b"]


def test_an_atomic_append_beside_an_old_conflict_writes_nothing(world: World) -> None:
    session_id = world.open(idle_timeout=7200).session_id
    old = message(world, "a")
    append(world, session_id, old)
    world.clock.pass_(3600)
    other = NewMessage(content="b", message_id=old.message_id)
    with pytest.raises(ContentConflictError):
        append(world, session_id, NewMessage(content="new"), other, atomic=True)
    assert transcript(world, session_id) == ["a"]


def test_ids_are_judged_with_their_path(world: World) -> None:
    session_id = world.open().session_id
    new = message(world, "a")
    for wrong in (new, NewMessage(content="b", message_id="message-1")):
        with pytest.raises(InvalidRequestError) as refused:
            append(world, session_id, new, wrong)
        assert refused.value.facts["path"] == "$.messages[1].messageId"
    assert transcript(world, session_id) == []


def test_without_a_bucket_a_content_of_300_kb_is_kept_and_a_byte_more_is_not() -> None:
    world = World(bucket=False)
    session_id = world.open().session_id
    append(world, session_id, NewMessage(content="x" * (INLINE_LIMIT - 2)))
    with pytest.raises(PayloadTooLargeError) as refused:
        append(world, session_id, NewMessage(content="x" * (INLINE_LIMIT - 1)))
    assert refused.value.facts == {
        "path": "$.messages[0].content",
        "limit": INLINE_LIMIT,
        "size": INLINE_LIMIT + 1,
    }


def test_an_append_is_a_use_of_the_session(world: World) -> None:
    session = world.open()
    world.clock.pass_(360)
    append(world, session.session_id, NewMessage(content="a"))
    assert world.stored(session.session_id).ttl == NOW_SECONDS + 3960
    assert world.stored(session.session_id).version == session.version


def test_fifty_messages_of_10_kb_are_read_in_order_a_page_at_a_time(world: World) -> None:
    session_id = world.open().session_id
    for number in range(50):
        append(world, session_id, NewMessage(content=f"{number:02}" + "x" * 10_240))
    contents: list[str] = []
    after: Any = None
    while True:
        page = world.store.context.page(ALICE, session_id, PageRequest(limit=20, after=after))
        contents += [found.content[:2] for found in page.items]
        after = page.next
        if after is None:
            break
    assert contents == [f"{number:02}" for number in range(50)]
    newest = transcript(world, session_id, limit=2, descending=True)
    assert [content[:2] for content in newest] == ["49", "48"]


def test_messages_are_their_sessions_alone(world: World) -> None:
    mine, other = world.open(), world.open()
    append(world, mine.session_id, NewMessage(content="a"))
    assert transcript(world, other.session_id) == []


def test_a_session_that_is_not_there_has_no_transcript(world: World) -> None:
    session_id = world.open().session_id
    new = message(world, "a")
    append(world, session_id, new)
    page: PageRequest[Any] = PageRequest(limit=10)
    with pytest.raises(SessionNotFoundError):
        world.store.context.page(BOB, session_id, page)
    with pytest.raises(SessionNotFoundError):
        world.store.context.append(BOB, session_id, [new])
    world.store.sessions.delete(ALICE, session_id)
    with pytest.raises(SessionNotFoundError):
        transcript(world, session_id)
    with pytest.raises(SessionNotFoundError):
        append(world, session_id, new)


def test_messages_are_appended_at_home_only(world: World) -> None:
    session_id = world.open().session_id
    with pytest.raises(MisdirectedError):
        world.seen_from("eu-west-1").context.append(ALICE, session_id, [NewMessage(content="a")])
    assert world.memory.messages == {}
