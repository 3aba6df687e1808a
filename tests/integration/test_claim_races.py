"""Many workers at one call or key: one begins, one takes over, one effect."""

import secrets
from typing import Any

from session_store.domain.claim import ClaimStatus
from session_store.errors import (
    InProgressError,
)
from session_store.services.free_claims import ClaimOutcome, NewClaim
from session_store.services.tool_calls.begin import NewCall
from tests.support.api import StoreApi
from tests.support.crowd import at_once
from tests.support.samples import ALICE
from tests.support.workers import ENTIRE, Effects, Worker, attempted, session_of

WORKERS = 32
WRITTEN: Effects = (1, 1, ["of the call"], 1, "closing")


def test_of_many_workers_one_begins_a_call(worker: Worker) -> None:
    session_id = session_of(worker)

    def begin(number: int) -> Any:
        new = NewCall(tool_call_id="c1", tool_name="pay", input=1, attempt_id=f"attempt-{number}")
        return attempted(lambda: worker.store.running_calls.begin(ALICE, session_id, new))

    answers = at_once(WORKERS, begin)
    losers = [answer for answer in answers if isinstance(answer, InProgressError)]
    assert len(losers) == WORKERS - 1, answers


def test_of_many_workers_one_takes_a_forsaken_call_over(worker: Worker) -> None:
    session_id = session_of(worker)
    new = NewCall(tool_call_id="c1", tool_name="pay", input=1, retry_safe=True)
    worker.store.running_calls.begin(ALICE, session_id, new)
    worker.clock.pass_(64)

    def begin(_: int) -> Any:
        return attempted(lambda: worker.store.running_calls.begin(ALICE, session_id, new))

    answers = at_once(WORKERS, begin)
    losers = [answer for answer in answers if isinstance(answer, InProgressError)]
    assert len(losers) == WORKERS - 1, answers


def test_many_completions_of_one_call_are_one(worker: Worker) -> None:
    session_id = worker.open()
    fence = worker.begin(session_id).json["fence"]
    path = f"/sessions/{session_id}/tool-calls/c1/complete"
    apis = [StoreApi(worker.store) for _ in range(WORKERS)]
    body = {"fence": fence, **ENTIRE}
    answers = at_once(WORKERS, lambda number: apis[number].call("POST", path, body).status)
    assert set(answers) <= {200, 503}, answers
    assert answers.count(200) >= 1
    assert worker.effects(session_id) == WRITTEN


def test_of_many_workers_one_claims_a_key(worker: Worker) -> None:
    key = secrets.token_hex(8)

    def begin(_: int) -> Any:
        return attempted(lambda: worker.store.claims.begin(ALICE, key, NewClaim(input=1)))

    answers = at_once(WORKERS, begin)
    winners = [answer for answer in answers if not isinstance(answer, InProgressError)]
    assert len(winners) == 1, answers
    done = ClaimOutcome(status=ClaimStatus.COMPLETED, output=7)
    step = worker.store.claims.complete(ALICE, key, fence=winners[0].fence, outcome=done)
    assert step.claim.output == 7


def test_heartbeats_that_meet_leave_the_longest_lease(worker: Worker) -> None:
    session_id = session_of(worker)
    new = NewCall(tool_call_id="c1", tool_name="pay", input=1, lease_seconds=10)
    fence = worker.store.running_calls.begin(ALICE, session_id, new).claim.fence
    leases = [20, 3600, 40, 1800, 90, 600, 61, 300]
    beat = worker.store.running_calls.heartbeat

    def one(number: int) -> int:
        return beat(ALICE, session_id, "c1", fence=fence, lease_seconds=leases[number]).lease_until_ms

    told = at_once(len(leases), one)
    claim = worker.storage.tool_calls.read_call(session_id, "c1").claim
    assert claim is not None
    assert claim.lease_until_ms == max(told)
