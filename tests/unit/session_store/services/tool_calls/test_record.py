"""A finished tool call is recorded once per call id, whatever happens to its session."""

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.claim import ClaimStatus
from session_store.domain.page import PageRequest
from session_store.domain.session import Session, Status
from session_store.errors import (
    IdempotencyMismatchError,
    InProgressError,
    InvalidRequestError,
    MisdirectedError,
    NotFoundError,
    PayloadTooLargeError,
    SessionClosedError,
    SessionNotFoundError,
    StoreError,
)
from session_store.services.payloads import INLINE_LIMIT
from session_store.services.tool_calls.record import RecordedCall, RecordResult
from tests.support.samples import ALICE, AUDIT_RETENTION, BOB, DAY, NOW_MS, NOW_SECONDS, REGION, STRANGER
from tests.support.world import World

PAGE: PageRequest[Any] = PageRequest(limit=100)


def a_call(tool_call_id: str = "c1", **changes: Any) -> RecordedCall:
    values: dict[str, Any] = {
        "tool_call_id": tool_call_id,
        "tool_name": "search",
        "input": {"q": "x", "n": Decimal("0.1")},
        "output": {"hits": 9007199254740993},
        "error": None,
        "duration_ms": 250,
        "started_at": None,
    }
    return RecordedCall(**{**values, **changes})


def record(world: World, session: Session, call: RecordedCall) -> RecordResult:
    return world.store.recorded_calls.record(ALICE, session.session_id, call)


def end(world: World, session: Session, how: str) -> None:
    if how == "deleted":
        world.store.sessions.delete(ALICE, session.session_id)
    elif how == "expired":
        world.clock.pass_(DAY)
    elif how != "open":
        for step in (Status.CLOSING, Status.CLOSED)[: 1 if how == "closing" else 2]:
            world.store.sessions.move(ALICE, session.session_id, step)


EVERY_END = pytest.mark.parametrize("how", ["open", "closing", "closed", "deleted", "expired"])


def test_a_call_is_kept_with_its_claim_and_an_event(world: World) -> None:
    session = world.open()
    recorded = record(world, session, a_call())
    kept = recorded.record
    assert not recorded.replayed
    assert (kept.status, kept.started_at, kept.completed_at) == (ClaimStatus.COMPLETED, NOW_MS - 250, NOW_MS)
    assert (kept.input, kept.output) == ({"q": "x", "n": Decimal("0.1")}, {"hits": 9007199254740993})
    assert (kept.fence, kept.ttl) == (NOW_MS, NOW_SECONDS + 30 * DAY)
    (claim,) = world.memory.claims.values()
    assert (claim.owner, claim.status, claim.fence) == (session.owner, ClaimStatus.COMPLETED, NOW_MS)
    (event,) = world.memory.events
    assert (event.event_name, event.author, event.region) == ("ToolCallRecorded", kept.author, REGION)
    assert event.ttl == NOW_SECONDS + AUDIT_RETENTION
    assert world.stored(session.session_id).version == session.version


def test_a_call_with_an_error_has_failed(world: World) -> None:
    failed = record(world, world.open(), a_call(output=None, error={"message": "no"})).record
    assert (failed.status, failed.error) == (ClaimStatus.FAILED, {"message": "no"})


def test_a_call_may_tell_when_it_began(world: World) -> None:
    kept = record(world, world.open(), a_call(started_at=NOW_MS - 5000)).record
    assert (kept.started_at, kept.completed_at) == (NOW_MS - 5000, NOW_MS - 4750)


def test_a_claim_stays_a_day_where_its_session_may_not(world: World) -> None:
    record(world, world.open(max_lifetime=60, idle_timeout=60), a_call())
    (claim,) = world.memory.claims.values()
    assert claim.ttl == NOW_SECONDS + 1 + DAY


@EVERY_END
def test_the_same_call_again_is_a_success(world: World, how: str) -> None:
    session = world.open()
    first = record(world, session, a_call())
    end(world, session, how)
    world.clock.pass_(1)
    reordered = a_call(input={"n": Decimal("0.1"), "q": "x"})
    assert record(world, session, reordered) == RecordResult(record=first.record, replayed=True)
    assert len([event for event in world.memory.events if event.event_name == "ToolCallRecorded"]) == 1


@EVERY_END
@pytest.mark.parametrize(
    "change",
    [
        {"input": {"q": "y"}},
        {"tool_name": "other"},
        {"output": "other"},
        {"output": None, "error": "e"},
        {"duration_ms": 251},
        {"started_at": NOW_MS - 250},
    ],
)
def test_another_call_under_the_same_id_is_refused(world: World, how: str, change: dict[str, Any]) -> None:
    session = world.open()
    first = record(world, session, a_call())
    end(world, session, how)
    gone = how in ("deleted", "expired")
    with pytest.raises(SessionNotFoundError if gone else IdempotencyMismatchError):
        record(world, session, a_call(**change))
    assert [*world.memory.records[session.session_id].values()] == [first.record]


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("closing", SessionClosedError),
        ("closed", SessionClosedError),
        ("deleted", SessionNotFoundError),
        ("expired", SessionNotFoundError),
    ],
)
def test_a_new_call_is_refused_after_the_end(world: World, how: str, error: type[StoreError]) -> None:
    session = world.open()
    end(world, session, how)
    with pytest.raises(error):
        record(world, session, a_call())
    assert world.memory.claims == {}


@pytest.mark.parametrize("caller", [BOB, STRANGER])
@EVERY_END
def test_a_foreign_call_is_not_found(world: World, how: str, caller: Any) -> None:
    session = world.open()
    record(world, session, a_call())
    end(world, session, how)
    for call in (a_call(), a_call(input="other"), a_call("c2")):
        with pytest.raises(SessionNotFoundError):
            world.store.recorded_calls.record(caller, session.session_id, call)
    with pytest.raises(SessionNotFoundError):
        world.store.tool_calls.get(caller, session.session_id, "c1")
    with pytest.raises(SessionNotFoundError):
        world.store.tool_calls.history(caller, session.session_id, PAGE)


def test_a_call_in_progress_is_refused_as_such(world: World) -> None:
    session = world.open()
    record(world, session, a_call())
    ((key, claim),) = world.memory.claims.items()
    world.memory.claims[key] = replace(claim, status=ClaimStatus.IN_PROGRESS, outcome_hash="")
    with pytest.raises(InProgressError):
        record(world, session, a_call())
    with pytest.raises(IdempotencyMismatchError):
        record(world, session, a_call(input="other"))


def test_a_settled_call_whose_record_is_gone_is_not_run_again(world: World) -> None:
    session = world.open()
    record(world, session, a_call())
    world.memory.records.clear()
    with pytest.raises(NotFoundError):
        record(world, session, a_call())
    with pytest.raises(NotFoundError):
        world.store.tool_calls.get(ALICE, session.session_id, "c1")


def test_calls_are_recorded_at_home_only(world: World) -> None:
    session = world.open()
    with pytest.raises(MisdirectedError):
        world.seen_from("eu-west-1").recorded_calls.record(ALICE, session.session_id, a_call())
    assert world.memory.claims == {}


@pytest.mark.parametrize(
    ("call", "path"),
    [
        (a_call(""), "toolCallId"),
        (a_call(".."), "toolCallId"),
        (a_call("x" * 257), "toolCallId"),
        (a_call(tool_name="two words"), "$.toolName"),
        (a_call(tool_name="x" * 129), "$.toolName"),
        (a_call(error="e"), "$.error"),
    ],
)
def test_a_malformed_call_is_refused_with_its_path(world: World, call: RecordedCall, path: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        record(world, world.open(), call)
    assert refused.value.facts["path"] == path
    assert world.memory.claims == {}


def test_without_a_bucket_input_and_outcome_together_fit_in_an_item() -> None:
    world = World(bucket=False)
    session = world.open()
    half = "x" * (INLINE_LIMIT // 2 - len('""'))
    record(world, session, a_call("fits", input=half, output=half))
    with pytest.raises(PayloadTooLargeError) as refused:
        record(world, session, a_call("c2", input=half + "x", output=half))
    assert refused.value.facts["path"] == "$.input, $.output"
    assert (refused.value.facts["limit"], refused.value.facts["size"]) == (INLINE_LIMIT, INLINE_LIMIT + 1)
    for part in ("input", "output"):
        with pytest.raises(PayloadTooLargeError) as refused:
            record(world, session, a_call("c3", **{part: "x" * INLINE_LIMIT}))
        assert refused.value.facts["path"] == f"$.{part}"
