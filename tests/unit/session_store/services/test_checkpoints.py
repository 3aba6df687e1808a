"""Checkpoints: each stored once, by namespace, and the newest of them."""

import secrets
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from session_store.domain.checkpoint import SHORTEST_RETENTION
from session_store.domain.identifiers import MessageIds, message_time
from session_store.domain.page import PageRequest
from session_store.domain.session import Status
from session_store.domain.window import LONGEST_LIFE
from session_store.errors import (
    ContentConflictError,
    InvalidRequestError,
    MisdirectedError,
    NotFoundError,
    PayloadTooLargeError,
    SessionClosedError,
    SessionNotFoundError,
)
from session_store.services.checkpoints import AddedCheckpoint
from session_store.services.new_checkpoints import NewCheckpoint
from session_store.services.payloads import INLINE_LIMIT, LARGEST
from tests.support.pages import every_page
from tests.support.samples import ALICE, BOB, DAY, NOW_MS, NOW_SECONDS, STRANGER, a_checkpoint
from tests.support.world import World

LARGE = {"a": "x" * INLINE_LIMIT, "b": [Decimal("0.1"), 9007199254740993]}


def add(world: World, session_id: str, data: Any = "data", **new: Any) -> AddedCheckpoint:
    return world.store.checkpoints.add(ALICE, session_id, NewCheckpoint(data=data, **new))


def an_id(world: World, *, off_ms: int = 0) -> str:
    """An id of now, or of ``off_ms`` beside it; ids of one minter never go back in time."""
    if off_ms:
        return MessageIds(random_bytes=secrets.token_bytes).mint(world.clock.now + off_ms)
    return world.ids.message_id(world.clock.now)


def listed(world: World, session_id: str, namespace: str = "", **page: Any) -> list[Any]:
    request: PageRequest[Any] = PageRequest(limit=100, **page)
    found = world.store.checkpoints.page(ALICE, session_id, request, namespace=namespace)
    return [checkpoint.data for checkpoint in found.items]


def latest(world: World, session_id: str, namespace: str = "") -> Any:
    return world.store.checkpoints.latest(ALICE, session_id, namespace=namespace).data


def test_a_checkpoint_is_minted_an_id_and_lives_as_long_as_its_session_may(world: World) -> None:
    session = world.open()
    added = add(world, session.session_id, {"step": 1})
    kept = added.checkpoint
    assert added == AddedCheckpoint(checkpoint=kept, replayed=False)
    assert message_time(kept.checkpoint_id) == NOW_MS
    assert (kept.namespace, kept.parent_id, kept.data) == ("", None, {"step": 1})
    assert (kept.taken_at, kept.ttl) == (NOW_MS, NOW_SECONDS + 30 * DAY)
    assert kept.author.request_id == ALICE.request_id
    assert world.store.checkpoints.get(ALICE, session.session_id, kept.checkpoint_id) == kept


@pytest.mark.parametrize("data", [None, "", [], {}, False, {"": [Decimal("0.1"), 9007199254740993]}, LARGE])
def test_data_of_any_json_come_back_equal_on_every_way(world: World, data: Any) -> None:
    session_id = world.open().session_id
    kept = add(world, session_id, data, namespace="n").checkpoint
    assert kept.data == data
    found = world.store.checkpoints.get(ALICE, session_id, kept.checkpoint_id, namespace="n")
    assert found == kept
    assert (latest(world, session_id, "n"), listed(world, session_id, "n")) == (data, [data])


def test_the_newest_is_the_one_with_the_greatest_id_of_its_namespace(world: World) -> None:
    session_id = world.open().session_id
    for number in range(5):
        world.clock.pass_(1)
        add(world, session_id, number)
        add(world, session_id, -number, namespace="n")
    add(world, session_id, "late", checkpoint_id=an_id(world, off_ms=-60_000))
    assert (latest(world, session_id), latest(world, session_id, "n")) == (4, -4)
    assert listed(world, session_id) == ["late", 0, 1, 2, 3, 4]
    assert listed(world, session_id, descending=True) == [4, 3, 2, 1, 0, "late"]
    assert listed(world, session_id, "other") == []


@pytest.mark.parametrize("namespace", ["", "n"])
def test_where_there_is_none_nothing_is_the_newest(world: World, namespace: str) -> None:
    session_id = world.open().session_id
    add(world, session_id, namespace="other")
    with pytest.raises(NotFoundError) as refused:
        latest(world, session_id, namespace)
    assert type(refused.value) is NotFoundError


def test_a_checkpoint_of_another_namespace_is_not_there(world: World) -> None:
    session_id = world.open().session_id
    kept = add(world, session_id, namespace="a").checkpoint
    for namespace in ("", "b", "a#"):
        with pytest.raises(NotFoundError):
            world.store.checkpoints.get(ALICE, session_id, kept.checkpoint_id, namespace=namespace)
    again = add(world, session_id, namespace="b", checkpoint_id=kept.checkpoint_id)
    assert not again.replayed


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.CLOSING, Status.CLOSED])
def test_the_same_id_and_content_is_a_replay_whatever_the_status(world: World, status: Status) -> None:
    session_id = world.open().session_id
    asked: dict[str, Any] = {"checkpoint_id": an_id(world), "retain_seconds": 900}
    first = add(world, session_id, {"a": 1, "b": LARGE}, **asked)
    for step in (Status.CLOSING, Status.CLOSED)[: list(Status).index(status) - 1]:
        world.store.sessions.move(ALICE, session_id, step)
    world.clock.pass_(600)
    again = add(world, session_id, {"b": LARGE, "a": 1}, **asked)
    assert again == AddedCheckpoint(checkpoint=first.checkpoint, replayed=True)


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.CLOSED])
@pytest.mark.parametrize("change", [{"data": 2}, {"parent_id": None}, {"retain_seconds": 901}])
def test_the_same_id_with_another_content_is_a_conflict(
    world: World, status: Status, change: dict[str, Any]
) -> None:
    session_id = world.open().session_id
    parent = add(world, session_id, "parent").checkpoint.checkpoint_id
    asked: dict[str, Any] = {"data": 1, "checkpoint_id": an_id(world), "parent_id": parent}
    add(world, session_id, **asked)
    if status is Status.CLOSED:
        for step in (Status.CLOSING, Status.CLOSED):
            world.store.sessions.move(ALICE, session_id, step)
    with pytest.raises(ContentConflictError) as refused:
        add(world, session_id, **{**asked, **change})
    assert refused.value.facts == {"checkpointId": asked["checkpoint_id"]}
    assert listed(world, session_id) == ["parent", 1]


@pytest.mark.parametrize("status", [Status.CLOSING, Status.CLOSED])
def test_a_session_that_closes_takes_no_new_one(world: World, status: Status) -> None:
    session_id = world.open(status=status).session_id
    for asked in ({}, {"checkpoint_id": an_id(world)}):
        with pytest.raises(SessionClosedError):
            add(world, session_id, **asked)
    assert listed(world, session_id) == []


@pytest.mark.parametrize("off_ms", [-300_001, 300_001, -DAY * 1000])
def test_a_new_id_more_than_five_minutes_off_is_refused(world: World, off_ms: int) -> None:
    session_id = world.open().session_id
    with pytest.raises(InvalidRequestError) as refused:
        add(world, session_id, checkpoint_id=an_id(world, off_ms=off_ms))
    assert refused.value.facts["path"] == "$.checkpointId"
    assert listed(world, session_id) == []


def test_a_parent_is_a_checkpoint_of_the_same_namespace_and_session(world: World) -> None:
    session_id, other = world.open().session_id, world.open().session_id
    parent = add(world, session_id, namespace="n").checkpoint.checkpoint_id
    child = add(world, session_id, namespace="n", parent_id=parent).checkpoint
    assert child.parent_id == parent
    itself = an_id(world)
    for session, asked in (
        (session_id, {"parent_id": parent}),
        (other, {"parent_id": parent, "namespace": "n"}),
        (session_id, {"parent_id": an_id(world), "namespace": "n"}),
        (session_id, {"parent_id": itself, "checkpoint_id": itself}),
    ):
        with pytest.raises(InvalidRequestError) as refused:
            add(world, session, **asked)
        assert refused.value.facts["path"] == "$.parentId"
    assert listed(world, session_id) == listed(world, other) == []


def test_a_child_is_newer_than_its_parent_whose_clock_is_ahead(world: World) -> None:
    session_id = world.open().session_id
    parent = an_id(world, off_ms=240_000)
    add(world, session_id, "parent", checkpoint_id=parent)
    child = add(world, session_id, "child", parent_id=parent).checkpoint.checkpoint_id
    add(world, session_id, "grandchild", parent_id=child)
    assert latest(world, session_id) == "grandchild"
    assert world.store.recovery.find(ALICE, session_id).checkpoint == world.store.checkpoints.latest(
        ALICE, session_id
    )
    assert listed(world, session_id) == ["parent", "child", "grandchild"]
    alone = add(world, session_id, namespace="n").checkpoint
    assert message_time(alone.checkpoint_id) == world.clock.now


def test_an_own_id_that_is_not_later_than_its_parents_is_refused(world: World) -> None:
    session_id = world.open().session_id
    before, parent = an_id(world), an_id(world)
    add(world, session_id, "parent", checkpoint_id=parent)
    with pytest.raises(InvalidRequestError) as refused:
        add(world, session_id, "child", checkpoint_id=before, parent_id=parent)
    assert refused.value.facts["path"] == "$.checkpointId"
    assert listed(world, session_id) == ["parent"]


def test_a_replay_outlives_its_parent_and_a_new_child_does_not(world: World) -> None:
    session_id = world.open().session_id
    parent = add(world, session_id, "parent", retain_seconds=900).checkpoint.checkpoint_id
    world.clock.pass_(800)
    asked: dict[str, Any] = {"data": "child", "checkpoint_id": an_id(world), "parent_id": parent}
    first = add(world, session_id, **asked)
    world.clock.pass_(100)
    assert add(world, session_id, **asked) == AddedCheckpoint(checkpoint=first.checkpoint, replayed=True)
    with pytest.raises(InvalidRequestError):
        add(world, session_id, parent_id=parent)


def test_what_has_ended_is_on_no_way(world: World) -> None:
    session_id = world.open(idle_timeout=7200).session_id
    add(world, session_id, "old")
    short = add(world, session_id, "short", retain_seconds=900).checkpoint
    assert short.ttl == NOW_SECONDS + 900
    world.clock.pass_(899)
    assert (latest(world, session_id), listed(world, session_id)) == ("short", ["old", "short"])
    world.clock.pass_(0.5)
    assert (latest(world, session_id), listed(world, session_id)) == ("old", ["old"])
    with pytest.raises(NotFoundError):
        world.store.checkpoints.get(ALICE, session_id, short.checkpoint_id)


def test_an_id_that_has_ended_never_comes_back(world: World) -> None:
    session_id = world.open(idle_timeout=7200).session_id
    asked: dict[str, Any] = {"checkpoint_id": an_id(world, off_ms=300_000), "retain_seconds": 900}
    add(world, session_id, **asked)
    world.clock.pass_(900)
    with pytest.raises(InvalidRequestError) as refused:
        add(world, session_id, **asked)
    assert refused.value.facts["path"] == "$.checkpointId"


def test_the_newest_is_found_behind_any_number_of_ended_ones(world: World) -> None:
    session = world.open(idle_timeout=7200)
    add(world, session.session_id, "old")
    for _ in range(500):
        ended = a_checkpoint(session, ttl=NOW_SECONDS, checkpoint_id=an_id(world))
        world.store.checkpoints.storage.put(ended)
    assert latest(world, session.session_id) == "old"


def test_a_page_is_short_where_some_have_ended_and_only_no_cursor_ends_the_list(world: World) -> None:
    session = world.open()
    for number in range(9):
        ends = session.max_expires_at if number in (0, 7) else NOW_SECONDS
        kept = a_checkpoint(session, number, ttl=ends, checkpoint_id=an_id(world))
        world.store.checkpoints.storage.put(kept)
    pages = every_page(lambda page: world.store.checkpoints.page(ALICE, session.session_id, page), limit=3)
    assert [[each.data for each in page] for page in pages] == [[0], [], [7]]


def test_no_checkpoint_outlives_what_its_session_may_live(world: World) -> None:
    session = world.open(max_lifetime=DAY)
    kept = add(world, session.session_id, retain_seconds=2 * DAY).checkpoint
    assert kept.ttl == session.max_expires_at


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({"namespace": "a b"}, "$.namespace"),
        ({"namespace": "x" * 129}, "$.namespace"),
        ({"checkpoint_id": ""}, "$.checkpointId"),
        ({"checkpoint_id": "latest"}, "$.checkpointId"),
        ({"parent_id": ""}, "$.parentId"),
        ({"parent_id": "3d813cbb-47fb-42ba-91df-831e1593ac29"}, "$.parentId"),
        ({"data": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}, "$.data" + "[0]" * 31),
    ],
)
def test_what_is_malformed_is_refused_by_its_path(world: World, asked: dict[str, Any], path: str) -> None:
    session_id = world.open().session_id
    with pytest.raises(InvalidRequestError) as refused:
        add(world, session_id, **asked)
    assert refused.value.facts["path"] == path


@pytest.mark.parametrize("bucket", [True, False])
def test_data_are_refused_above_what_the_deployment_keeps(*, bucket: bool) -> None:
    world = World(bucket=bucket)
    session_id = world.open().session_id
    most = LARGEST if bucket else INLINE_LIMIT
    assert not add(world, session_id, "x" * (most - 2)).replayed
    with pytest.raises(PayloadTooLargeError) as refused:
        add(world, session_id, "x" * (most - 1))
    assert refused.value.facts == {"path": "$.data", "limit": most, "size": most + 1}


@pytest.mark.parametrize("caller", [BOB, STRANGER])
def test_another_caller_can_neither_read_nor_add_one(world: World, caller: Any) -> None:
    session_id = world.open().session_id
    kept = add(world, session_id).checkpoint
    checkpoints = world.store.checkpoints
    ways: list[Callable[[], object]] = [
        lambda: checkpoints.get(caller, session_id, kept.checkpoint_id),
        lambda: checkpoints.latest(caller, session_id),
        lambda: checkpoints.page(caller, session_id, PageRequest(limit=1)),
        lambda: checkpoints.add(caller, session_id, NewCheckpoint(data=1)),
        lambda: world.store.keyed_checkpoints.add(caller, session_id, NewCheckpoint(data=1), key="k"),
    ]
    for way in ways:
        with pytest.raises(SessionNotFoundError):
            way()
    assert listed(world, session_id) == ["data"]


def test_with_the_session_its_checkpoints_are_gone(world: World) -> None:
    session_id = world.open().session_id
    kept = add(world, session_id).checkpoint
    world.store.sessions.delete(ALICE, session_id)
    with pytest.raises(SessionNotFoundError):
        world.store.checkpoints.get(ALICE, session_id, kept.checkpoint_id)
    with pytest.raises(SessionNotFoundError):
        add(world, session_id, checkpoint_id=kept.checkpoint_id)


def test_another_region_reads_what_is_small_and_writes_nothing(world: World) -> None:
    session_id = world.open().session_id
    add(world, session_id, "small")
    add(world, session_id, LARGE, namespace="large")
    world.store = world.seen_from("eu-west-1")
    assert (latest(world, session_id), listed(world, session_id)) == ("small", ["small"])
    ways: list[Callable[[], object]] = [
        lambda: latest(world, session_id, "large"),
        lambda: add(world, session_id),
    ]
    for way in ways:
        with pytest.raises(MisdirectedError):
            way()


def test_every_use_moves_the_window_where_it_is_due(world: World) -> None:
    session_id = world.open().session_id
    kept = add(world, session_id).checkpoint
    checkpoints = world.store.checkpoints
    ways: list[Callable[[], object]] = [
        lambda: checkpoints.add(ALICE, session_id, NewCheckpoint(data=1)),
        lambda: world.store.keyed_checkpoints.add(ALICE, session_id, NewCheckpoint(data=2), key="k"),
        lambda: checkpoints.get(ALICE, session_id, kept.checkpoint_id),
        lambda: checkpoints.latest(ALICE, session_id),
        lambda: checkpoints.page(ALICE, session_id, PageRequest(limit=1)),
    ]
    for number, way in enumerate(ways, 1):
        world.clock.pass_(400)
        way()
        assert len(world.slides) == number
        assert world.stored(session_id).ttl == world.clock.now // 1000 + 3600


@pytest.mark.parametrize("retain", [-5, 0, 1, SHORTEST_RETENTION - 1, LONGEST_LIFE + 1])
def test_a_checkpoint_is_kept_for_a_time_that_may_be(world: World, retain: int) -> None:
    """With a shorter retention, an id could be stored again before it is too old for a new one."""
    session_id = world.open().session_id
    with pytest.raises(InvalidRequestError) as refused:
        add(world, session_id, retain_seconds=retain)
    assert refused.value.facts["path"] == "$.retainSeconds"
    assert listed(world, session_id) == []
