"""Free idempotency keys over the API: the rules of tool calls, without a session."""

from typing import Any

import pytest

from session_store.domain.claim import LEASE_SKEW_MARGIN_MS, ClaimStatus
from session_store.domain.free_claim import free_key_hash
from session_store.domain.homes import fnv1a_32, home_of
from session_store.errors import InvalidRequestError, MisdirectedError
from session_store.metric_names import Metric
from session_store.services.free_claims import ClaimOutcome, NewClaim
from session_store.services.payloads import INLINE_LIMIT, OUTCOME_ROOM
from tests.support.api import Answer, InProcessApi, StoreApi
from tests.support.samples import ALICE, DAY, NOW_SECONDS, OWNER, REGION
from tests.support.world import World

OVER = 60 + LEASE_SKEW_MARGIN_MS / 1000
INPUT = {"n": 0.1, "big": 9007199254740993}
REGIONS = (REGION, "eu-west-1", "ap-south-1")


def begin(api: StoreApi, key: str = "k", **changes: Any) -> Answer:
    return api.call("PUT", f"/claims/{key}", {"input": INPUT, **changes})


def step(api: StoreApi, name: str, body: dict[str, Any], key: str = "k") -> Answer:
    return api.call("POST", f"/claims/{key}/{name}", body)


def test_a_key_is_claimed_finished_and_answered_again(api: InProcessApi) -> None:
    begun = begin(api)
    assert (begun.status, begun.json["status"], begun.json["input"]) == (201, "in_progress", INPUT)
    assert api.call("GET", "/claims/k").json == {
        name: value for name, value in begun.json.items() if name != "downstreamToken"
    }
    api.world.clock.pass_(1)
    body = {"fence": begun.json["fence"], "output": {"paid": True}}
    api.counts()
    done = step(api, "complete", body)
    assert (done.status, done.json["output"], done.json["leaseUntil"]) == (200, {"paid": True}, None)
    assert api.counts() == {Metric.SERVED: 1}
    assert step(api, "complete", body).json == done.json
    again = begin(api, input={"big": 9007199254740993, "n": 0.1})
    assert (again.status, again.json["output"]) == (200, {"paid": True})
    assert api.counts() == {Metric.SERVED: 2, Metric.REPLAYS: 2}
    assert again.json["downstreamToken"] == begun.json["downstreamToken"]
    assert begin(api, input=2).status == 422
    assert step(api, "complete", {**body, "output": 2}).status == 422


def test_a_claim_freed_for_a_retry_stays_as_long_as_one_that_was_begun(api: InProcessApi) -> None:
    begin(api)
    api.world.clock.pass_(DAY - 100)
    known = api.call("POST", "/claims/k/reconcile", {"outcome": "retry"}).json
    assert known["ttl"] == NOW_SECONDS + DAY - 100 + DAY
    api.world.clock.pass_(DAY - 1)
    assert begin(api, input="other").status == 422


def test_an_input_leaves_room_for_an_outcome(api: InProcessApi) -> None:
    most = INLINE_LIMIT - OUTCOME_ROOM - 2
    assert begin(api, input="x" * (most + 1)).status == 413
    room = OUTCOME_ROOM - 2
    fence = begin(api, input="x" * most).json["fence"]
    refused = step(api, "fail", {"fence": fence, "error": "e" * (room + 1)})
    assert (refused.status, refused.json["path"]) == (413, "$.error")
    assert step(api, "fail", {"fence": fence, "error": "e" * room}).status == 200
    fence = begin(api, "other", input="x" * most).json["fence"]
    assert step(api, "complete", {"fence": fence, "output": "o" * room}, "other").status == 200


def test_a_failure_is_an_outcome(api: InProcessApi) -> None:
    fence = begin(api).json["fence"]
    assert step(api, "fail", {"fence": fence, "error": "no"}).json["status"] == "failed"
    assert begin(api).json["error"] == "no"


def test_a_claim_with_an_expired_lease_is_unknown_or_taken_over(api: InProcessApi) -> None:
    first = begin(api, retrySafe=True).json
    begin(api, "unsafe")
    assert begin(api).slug == "in-progress"
    api.world.clock.pass_(OVER)
    assert begin(api, "unsafe").slug == "outcome-unknown"
    second = begin(api).json
    assert second["fence"] > first["fence"]
    assert second["downstreamToken"] == first["downstreamToken"]
    assert step(api, "complete", {"fence": first["fence"], "output": 1}).slug == "fenced"
    assert step(api, "heartbeat", {"fence": first["fence"], "leaseSeconds": 5}).slug == "fenced"


def test_an_unknown_outcome_is_reconciled(api: InProcessApi) -> None:
    begin(api)
    begin(api, "again")
    api.world.clock.pass_(OVER)
    assert step(api, "reconcile", {"outcome": "completed", "output": 7}).json["output"] == 7
    assert begin(api).json["output"] == 7
    assert step(api, "reconcile", {"outcome": "retry"}, "again").json["status"] == "in_progress"
    assert begin(api, "again").status == 201


def test_a_claim_stays_a_day_after_its_lease_and_as_long_as_it_was_asked_to(api: InProcessApi) -> None:
    assert begin(api).json["ttl"] == NOW_SECONDS + 61 + DAY
    assert begin(api, "short", retainSeconds=5).json["ttl"] == NOW_SECONDS + 61 + DAY
    long = begin(api, "long", retainSeconds=9 * DAY).json
    assert long["ttl"] == NOW_SECONDS + 9 * DAY
    api.world.clock.pass_(30)
    held = step(api, "heartbeat", {"fence": long["fence"], "leaseSeconds": 60}, "long").json
    assert held["ttl"] == NOW_SECONDS + 30 + 9 * DAY
    api.world.clock.pass_(30)
    done = step(api, "complete", {"fence": long["fence"], "output": 1}, "long").json
    assert done["ttl"] == NOW_SECONDS + 60 + 9 * DAY


def test_an_expired_claim_begins_anew_and_fences_its_former_holder(api: InProcessApi) -> None:
    first = begin(api).json
    api.world.clock.pass_(2 * DAY)
    assert api.call("GET", "/claims/k").status == 404
    anew = begin(api, input="other").json
    assert anew["downstreamToken"] != first["downstreamToken"]
    assert step(api, "complete", {"fence": first["fence"], "output": 1}).slug == "fenced"


def test_two_subjects_never_share_a_claim(api: InProcessApi) -> None:
    begin(api)
    other = api.call("PUT", "/claims/k", {"input": "theirs"}, subject="bob")
    assert (other.status, other.json["input"]) == (201, "theirs")
    assert api.call("GET", "/claims/k", subject="carol").status == 404


def test_a_key_is_written_in_its_home_region_alone(world: World) -> None:
    keys = [f"k{number}" for number in range(12)]
    homes = {key: home_of(free_key_hash(OWNER, key), REGIONS) for key in keys}
    assert set(homes.values()) == set(REGIONS)
    for region in REGIONS:
        claims = world.seen_from(region, regions=REGIONS).claims
        for key, home in homes.items():
            if home == region:
                assert claims.begin(ALICE, key, NewClaim(input=1)).region == region
                continue
            with pytest.raises(MisdirectedError) as caught:
                claims.begin(ALICE, key, NewClaim(input=1))
            assert caught.value.facts == {"homeRegion": home}


def test_the_hash_of_homes_is_fnv_1a() -> None:
    assert (f"{fnv1a_32('foobar'):08x}", f"{fnv1a_32('sé'):08x}") == ("bf9cf968", "9b8c688e")


@pytest.mark.parametrize(
    "change", [{"retainSeconds": 0}, {"retainSeconds": 7_776_001}, {"leaseSeconds": 3601}, {"attemptId": " "}]
)
def test_a_claim_that_is_not_valid_is_refused(api: InProcessApi, change: dict[str, Any]) -> None:
    assert begin(api, **change).status == 400
    assert api.world.memory.free_claims == {}


def test_a_claim_is_limited_to_the_size_of_its_item(api: InProcessApi) -> None:
    fence = begin(api, input="x" * 200_000).json["fence"]
    too_large = step(api, "complete", {"fence": fence, "output": "x" * 150_000})
    assert too_large.slug == "payload-too-large"
    assert step(api, "complete", {"fence": fence, "output": 1}).status == 200


@pytest.mark.parametrize(
    ("status", "parts", "path"),
    [
        (ClaimStatus.IN_PROGRESS, {}, "$.outcome"),
        (ClaimStatus.FAILED, {"output": 1}, "$.output"),
        (ClaimStatus.COMPLETED, {"error": 1}, "$.error"),
    ],
)
def test_an_invalid_outcome_is_refused(
    world: World, status: ClaimStatus, parts: dict[str, Any], path: str
) -> None:
    claims = world.store.claims
    fence = claims.begin(ALICE, "k", NewClaim(input=1)).fence
    with pytest.raises(InvalidRequestError) as refused:
        claims.complete(ALICE, "k", fence=fence, outcome=ClaimOutcome(status=status, **parts))
    assert refused.value.facts["path"] == path
    assert claims.get(ALICE, "k").status is ClaimStatus.IN_PROGRESS
