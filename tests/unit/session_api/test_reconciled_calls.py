"""Tool calls over the API whose lease expired: reconciled, or recorded after all."""

from typing import Any

import pytest

from tests.support.samples import DAY
from tests.support.session_calls import INPUT, LEASE, OVER, Session


def test_an_unknown_outcome_is_reconciled(session: Session) -> None:
    fence = session.fence()
    assert session.reconcile("completed", output=1).slug == "in-progress"
    session.clock.pass_(OVER)
    known = session.reconcile("completed", output="found in the other system")
    assert (known.status, known.json["status"]) == (200, "completed")
    assert session.reconcile("completed", output="found in the other system").status == 200
    assert session.reconcile("failed", error=1).status == 422
    assert session.complete(fence).slug == "fenced"
    assert session.begin().json["output"] == "found in the other system"
    assert [event.event_name for event in session.api.world.memory.events] == ["ToolCallReconciled"]


def test_a_reconciled_call_may_be_tried_again(session: Session) -> None:
    begun = session.begin().json
    session.clock.pass_(OVER)
    assert session.reconcile("retry").json["status"] == "in_progress"
    assert session.reconcile("retry").status == 200
    assert session.complete(begun["fence"]).slug == "fenced"
    again = session.begin()
    assert (again.status, again.json["downstreamToken"]) == (201, begun["downstreamToken"])
    assert again.json["fence"] > begun["fence"]
    assert session.complete(again.json["fence"]).json["startedAt"] == begun["startedAt"]


@pytest.mark.parametrize(
    "body",
    [
        {"outcome": "retry", "output": 1},
        {"outcome": "completed", "error": 1},
        {"outcome": "failed", "output": 1},
    ],
)
def test_a_reconciliation_has_only_the_outcome_that_fits_it(session: Session, body: dict[str, Any]) -> None:
    assert session.call("POST", "/tool-calls/c1/reconcile", body).status == 400


def test_a_reconciliation_of_an_earlier_attempt_is_fenced(session: Session) -> None:
    first = session.fence()
    session.clock.pass_(OVER)
    assert session.reconcile("retry", fence=first).status == 200
    second = session.fence(leaseSeconds=1)
    session.clock.pass_(OVER)
    for outcome in ("retry", "completed"):
        assert session.reconcile(outcome, fence=first).slug == "fenced"
    assert session.begin().slug == "outcome-unknown"
    assert session.reconcile("completed", fence=second).status == 200


def test_an_abandoned_call_lasted_no_longer_than_its_lease(session: Session) -> None:
    session.begin()
    session.clock.pass_(DAY / 48)
    known = session.reconcile("completed").json
    assert known["durationMs"] == LEASE * 1000


def test_a_record_over_an_abandoned_attempt_does_not_end_before_it_starts(session: Session) -> None:
    begun = session.begin(retrySafe=True).json
    session.clock.pass_(OVER)
    early = {"durationMs": 3, "startedAt": "2027-01-15T07:00:00Z"}
    body = {"toolName": "pay", "input": INPUT, "output": 1, **early}
    recorded = session.call("PUT", "/tool-calls/c1", body).json
    assert recorded["startedAt"] == recorded["completedAt"] == begun["startedAt"]


def test_a_call_that_was_not_settled_before_the_session_closed_is_not_recorded_after_it(
    session: Session,
) -> None:
    session.begin()
    session.move("closing", "closed")
    body = {"toolName": "pay", "input": INPUT, "output": 1, "durationMs": 3}
    for _ in range(2):
        assert session.call("PUT", "/tool-calls/c1", body).slug == "session-closed"
        session.clock.pass_(OVER)


def test_recording_a_call_that_is_being_run_is_in_progress(session: Session) -> None:
    body = {"toolName": "pay", "input": INPUT, "output": 1, "durationMs": 3}
    session.begin(retrySafe=True)
    assert session.call("PUT", "/tool-calls/c1", body).slug == "in-progress"
    session.begin("c2")
    session.clock.pass_(OVER)
    assert session.call("PUT", "/tool-calls/c2", body).slug == "outcome-unknown"
    assert session.call("PUT", "/tool-calls/c1", body).status == 201
    assert session.begin().json["output"] == 1
    assert len(session.call("GET", "/tool-calls").json["items"]) == 1
