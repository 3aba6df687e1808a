"""For any behaviour of the function, each record is delivered or discarded, in order; none is skipped."""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from local.streams.reader import UnreachedError
from local.streams.responses import InvocationResult
from tests.support.streams import OK, RAISED, delivery

MOST_RECORDS = 40


@st.composite
def functions(draw: st.DrawFn) -> dict[str, Any]:
    """How often each record fails its batch, which always do, and when the function is unreachable."""
    count = draw(st.integers(1, MOST_RECORDS))
    patience = st.integers(1, 6)
    return {
        "count": count,
        "failures": draw(st.dictionaries(st.integers(1, count), patience, max_size=5)),
        "poison": draw(st.sets(st.integers(1, count), max_size=3)),
        "partial": draw(st.booleans()),
        "unreached": draw(st.sets(st.integers(1, 30), max_size=5)),
    }


class Modelled:
    """Succeeds in order up to the first record that still fails."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._failures = dict(plan["failures"])
        self._plan = plan
        self._calls = 0
        self.succeeded: list[int] = []

    def __call__(self, batch: Sequence[int]) -> InvocationResult:
        self._calls += 1
        if self._calls in self._plan["unreached"]:
            raise UnreachedError("throttled")
        for place, number in enumerate(batch):
            if number in self._plan["poison"] or self._failures.get(number, 0) > 0:
                self._failures[number] = self._failures.get(number, 0) - 1
                return self._failed(batch, place)
        self.succeeded += batch
        return OK

    def _failed(self, batch: Sequence[int], place: int) -> InvocationResult:
        if not self._plan["partial"]:
            return RAISED
        self.succeeded += batch[:place]
        failures = {"batchItemFailures": [{"itemIdentifier": f"{batch[place]:021d}"}]}
        return InvocationResult(request_id="request", payload=json.dumps(failures).encode())


@given(
    plan=functions(),
    batch_size=st.integers(1, 15),
    bisects=st.booleans(),
    max_retries=st.integers(0, 4),
)
def test_each_record_ends_once_in_success_or_discard_and_in_order(
    plan: dict[str, Any], batch_size: int, max_retries: int, *, bisects: bool
) -> None:
    function = Modelled(plan)
    done = delivery(
        plan["count"],
        function,
        batch_size=batch_size,
        bisects=bisects,
        max_retries=max_retries,
        reports_failures=plan["partial"],
    ).to_the_end()
    discarded = [number for batch in done.discarded for number in batch]
    everything = list(range(1, plan["count"] + 1))
    assert sorted(function.succeeded + discarded) == everything
    assert function.succeeded == sorted(function.succeeded)
    assert discarded == sorted(discarded)
    assert plan["poison"] <= set(discarded)
    assert done.checkpoints == sorted(done.checkpoints)
    assert done.checkpoints[-1] == plan["count"]
    if bisects:
        patient = {number for number, failures in plan["failures"].items() if failures > max_retries}
        assert set(discarded) <= plan["poison"] | patient
        assert all(len(batch) == 1 for batch in done.discarded)
