"""Calls whose input or outcome is in the bucket are answered whole, and refused without a bucket."""

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.domain.claim import ClaimStatus
from session_store.domain.payload import StoredPayload
from session_store.domain.session import Session, Status
from session_store.errors import (
    MisdirectedError,
    PayloadMissingError,
    PayloadTooLargeError,
    ThrottledError,
    UnreconciledError,
)
from session_store.services.context import NewMessage
from session_store.services.payloads import INLINE_LIMIT, LARGEST, OUTCOME_ROOM
from session_store.services.tool_calls.begin import BeginResult, NewCall
from session_store.services.tool_calls.finish import FinishResult
from session_store.services.tool_calls.requests import NO_CHANGE, CallOutcome, SessionChange
from tests.support.samples import ALICE, DAY
from tests.support.world import World

LARGE = [Decimal("0.1"), 9007199254740993, "x" * INLINE_LIMIT]
CALL = NewCall(tool_call_id="c1", tool_name="search", input=LARGE, attempt_id="a")
FOUND = CallOutcome(status=ClaimStatus.COMPLETED, output=[1, *LARGE])


class Call:
    """A call in a session of Alice's."""

    def __init__(self, world: World, **session: Any) -> None:
        self.world = world
        self.session: Session = world.open(**session)

    def begin(self, new: NewCall = CALL) -> BeginResult:
        return self.world.store.running_calls.begin(ALICE, self.session.session_id, new)

    def complete(
        self, begun: BeginResult, outcome: CallOutcome = FOUND, change: SessionChange = NO_CHANGE
    ) -> FinishResult:
        complete = self.world.store.finished_calls.finish
        id_, fence = self.session.session_id, begun.claim.fence
        return complete(ALICE, id_, "c1", fence=fence, outcome=outcome, change=change)

    def read(self) -> Any:
        return self.world.store.tool_calls.get(ALICE, self.session.session_id, "c1")

    @property
    def stored_input(self) -> Any:
        return self.world.memory.claims[self.session.session_id, "c1"].input


@pytest.fixture
def call(world: World) -> Call:
    return Call(world)


def texts(world: World) -> dict[str, bytes]:
    assert world.bucket is not None
    return world.bucket.texts


def test_a_large_input_is_apart_from_the_claim_and_answered_whole(call: Call) -> None:
    begun = call.begin()
    assert begun.claim.input == LARGE
    assert isinstance(call.stored_input, StoredPayload)
    assert len(texts(call.world)) == 1
    assert call.begin().claim.input == LARGE
    assert call.read().input == LARGE
    assert call.read().status is ClaimStatus.IN_PROGRESS


def test_a_large_call_ends_with_its_record_whole_and_its_claim_small(call: Call) -> None:
    begun = call.begin()
    done = call.complete(begun)
    assert done.record is not None
    assert (done.record.input, done.record.output) == (LARGE, [1, *LARGE])
    assert call.read() == done.record
    assert call.stored_input is None
    assert len(texts(call.world)) == 2
    assert call.complete(begun).record == done.record
    again = call.begin()
    assert again.record == done.record


def test_a_small_outcome_stays_beside_a_large_input(call: Call) -> None:
    done = call.complete(call.begin(), CallOutcome(status=ClaimStatus.FAILED, error="no"))
    assert done.record is not None
    assert (done.record.input, done.record.error) == (LARGE, "no")
    assert len(texts(call.world)) == 1
    (stored,) = call.world.memory.records[call.session.session_id].values()
    assert stored.error == "no"


@pytest.mark.parametrize("how", ["closed", "expired"])
def test_a_settled_large_call_is_answered_whole_after_the_session(call: Call, how: str) -> None:
    begun = call.begin()
    done = call.complete(begun)
    if how == "closed":
        for step in (Status.CLOSING, Status.CLOSED):
            call.world.store.sessions.move(ALICE, call.session.session_id, step)
    else:
        call.world.clock.pass_(DAY)
    assert call.complete(begun).record == done.record
    assert call.begin().record == done.record


def test_a_call_of_unknown_outcome_is_reconciled_with_its_large_input(call: Call) -> None:
    call.begin()
    call.world.clock.pass_(120)
    id_ = call.session.session_id
    with pytest.raises(UnreconciledError):
        call.world.store.running_calls.begin(ALICE, id_, replace(CALL, attempt_id="b"))
    tried = call.world.store.finished_calls.reconcile(ALICE, id_, "c1", outcome=None)
    assert (tried.record, tried.claim.input) == (None, LARGE)
    assert call.begin(replace(CALL, attempt_id="b")).claim.input == LARGE


def test_a_large_message_of_a_completion_is_in_the_bucket_before_it(call: Call) -> None:
    new = NewMessage(content=LARGE, message_id=call.world.ids.message_id(call.world.clock.now))
    call.complete(call.begin(replace(CALL, input=1)), change=SessionChange(messages=[new]))
    (kept,) = call.world.memory.messages[call.session.session_id].values()
    assert isinstance(kept.content, StoredPayload)
    assert len(texts(call.world)) == 2


def test_input_and_outcome_have_one_mebibyte_together_and_the_call_can_still_end(call: Call) -> None:
    begun = call.begin(replace(CALL, input="x" * (LARGEST - OUTCOME_ROOM - 2)))
    with pytest.raises(PayloadTooLargeError) as refused:
        call.complete(begun, CallOutcome(status=ClaimStatus.COMPLETED, output="y" * (OUTCOME_ROOM - 1)))
    assert refused.value.facts == {
        "path": "$.output",
        "limit": LARGEST,
        "size": LARGEST + 1,
    }
    largest = CallOutcome(status=ClaimStatus.COMPLETED, output="y" * (OUTCOME_ROOM - 2))
    assert not call.complete(begun, largest).replayed


def test_without_a_bucket_what_does_not_fit_is_refused() -> None:
    call = Call(World(bucket=False))
    with pytest.raises(PayloadTooLargeError):
        call.begin()
    begun = call.begin(replace(CALL, input="small"))
    with pytest.raises(PayloadTooLargeError):
        call.complete(begun)
    assert call.read().status is ClaimStatus.IN_PROGRESS
    assert not call.complete(begun, CallOutcome(status=ClaimStatus.COMPLETED, output=1)).replayed


def test_a_call_whose_input_is_lost_is_not_ended_under_a_false_one(call: Call) -> None:
    begun = call.begin()
    kept = dict(texts(call.world))
    texts(call.world).clear()
    for step in (call.read, lambda: call.complete(begun)):
        with pytest.raises(PayloadMissingError):
            step()
    texts(call.world).update(kept)
    assert not call.complete(begun).replayed


def test_a_bucket_that_takes_nothing_leaves_nothing_begun(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ThrottledError

    with monkeypatch.context() as patched:
        patched.setattr(type(call.world.bucket), "put", refuse)
        with pytest.raises(ThrottledError):
            call.begin()
        assert call.world.memory.claims == {}
    assert call.begin().claim.status is ClaimStatus.IN_PROGRESS


def test_away_from_home_a_large_input_is_asked_for_there(call: Call) -> None:
    call.begin()
    abroad = call.world.seen_from("eu-west-1")
    with pytest.raises(MisdirectedError):
        abroad.tool_calls.get(ALICE, call.session.session_id, "c1")
