"""What each operation costs: round trips, and write units as DynamoDB reports them."""

import secrets

import pytest
from msgspec.structs import replace

from session_store.domain.claim import ClaimStatus
from session_store.domain.expiry_mark import ExpiryMark
from session_store.domain.session import Author, Status
from session_store.domain.state_operations import StateOperations
from session_store.ports import Storage
from session_store.services.context import NewMessage
from session_store.services.free_claims import ClaimOutcome, NewClaim
from session_store.services.new_checkpoints import NewCheckpoint
from session_store.services.new_sessions import NewSession
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tool_calls.record import RecordedCall
from session_store.services.tool_calls.requests import SessionChange
from session_store.settings import Settings
from session_store.store import Store
from tests.support.call_samples import FOUND, RUN
from tests.support.faults import Spending
from tests.support.samples import ALICE, NOW_MS, a_checkpoint, kept
from tests.support.world import SettableClock

INDEX_WRITES_OF_A_NEW_SESSION = 2
INDEX_WRITES_OF_A_SLIDE = 3
"""Out of and into the status/ttl index, whose key moves, and once over in the owner index."""

INDEX_WRITES_OF_A_MARK = 1


@pytest.fixture
def session_id(store: Store, spending: Spending) -> str:
    new = NewSession(idle_timeout=3600, max_lifetime=86_400, state={"n": 0}, protocol={}, credential_refs=())
    session = store.sessions.create(ALICE, new)
    assert (spending.round_trips, spending.write_units) == (1, 1 + INDEX_WRITES_OF_A_NEW_SESSION)
    spending.reset()
    return session.session_id


def call(number: int) -> RecordedCall:
    return RecordedCall(
        tool_call_id=f"call-{number}",
        tool_name="search",
        input={"q": "x"},
        output="found",
        error=None,
        duration_ms=1,
        started_at=None,
    )


def test_a_state_write_is_one_round_trip_and_one_unit(
    store: Store, session_id: str, spending: Spending
) -> None:
    store.sessions.change_state(ALICE, session_id, StateOperations(set={"k": 1}))
    assert (spending.round_trips, spending.write_units) == (1, 1)


def test_a_replaced_state_is_one_round_trip_and_one_unit(
    store: Store, session_id: str, spending: Spending
) -> None:
    store.sessions.replace_state(ALICE, session_id, {"k": 1}, version=1)
    assert (spending.round_trips, spending.write_units) == (1, 1)


def test_an_increment_is_two_round_trips_and_a_transaction_of_one_item(
    store: Store, session_id: str, spending: Spending
) -> None:
    store.sessions.change_state(ALICE, session_id, StateOperations(increment={"n": 1}))
    assert (spending.round_trips, spending.write_units) == (2, 2)


def test_a_keyed_change_is_two_round_trips_and_a_transaction_of_two_items(
    store: Store, session_id: str, spending: Spending
) -> None:
    change = StateOperations(set={"k": 1})
    store.keyed_sessions.change_state(ALICE, session_id, change, key="k")
    assert (spending.round_trips, spending.write_units) == (2, 2 * 2)
    assert store.keyed_sessions.change_state(ALICE, session_id, change, key="k").replayed
    assert spending.round_trips == 4


def test_a_keyed_session_is_one_round_trip_and_a_transaction_of_two_items(
    store: Store, spending: Spending
) -> None:
    new = NewSession(idle_timeout=3600, max_lifetime=86_400, state={"n": 0}, protocol={}, credential_refs=())
    key = secrets.token_hex(8)
    store.keyed_sessions.create(ALICE, new, key=key)
    assert (spending.round_trips, spending.write_units) == (1, 2 * 2 + INDEX_WRITES_OF_A_NEW_SESSION)
    assert store.keyed_sessions.create(ALICE, new, key=key).replayed
    assert spending.calls == {"TransactWriteItems": 2}


def test_a_step_is_one_round_trip_and_moves_the_session_in_the_index(
    store: Store, session_id: str, spending: Spending
) -> None:
    store.sessions.move(ALICE, session_id, Status.ACTIVE)
    assert (spending.round_trips, spending.write_units) == (1, 1 + INDEX_WRITES_OF_A_SLIDE)


def test_a_hundred_touches_in_a_second_move_the_window_once(
    store: Store, session_id: str, spending: Spending, clock: SettableClock
) -> None:
    clock.pass_(400)
    for _ in range(100):
        clock.pass_(0.005)
        store.sessions.touch(ALICE, session_id)
    assert spending.calls == {"GetItem": 100, "UpdateItem": 1}
    assert spending.write_units == 1 + INDEX_WRITES_OF_A_SLIDE


def test_a_write_whose_window_is_due_is_one_round_trip_more(
    store: Store, session_id: str, spending: Spending, clock: SettableClock
) -> None:
    clock.pass_(400)
    store.sessions.change_state(ALICE, session_id, StateOperations(set={"k": 1}))
    assert spending.round_trips == 2


def test_an_append_of_a_kilobyte_is_two_round_trips_and_two_units_for_ever(
    store: Store, session_id: str, spending: Spending
) -> None:
    costs = []
    for _ in range(60):
        spending.reset()
        store.context.append(ALICE, session_id, [NewMessage(content="x" * 1000)])
        costs.append((spending.round_trips, spending.write_units))
    assert costs == [(2, 2)] * 60


def test_a_checkpoint_costs_its_size_and_no_more_for_those_before_it(
    store: Store, session_id: str, spending: Spending
) -> None:
    costs = []
    for _ in range(60):
        spending.reset()
        store.checkpoints.add(ALICE, session_id, NewCheckpoint(data="x" * 1000))
        costs.append((dict(spending.calls), spending.write_units))
    assert costs == [({"GetItem": 1, "PutItem": 1}, 2)] * 60


def test_a_checkpoint_with_a_parent_is_one_round_trip_more_and_no_unit(
    store: Store, session_id: str, spending: Spending
) -> None:
    parent = store.checkpoints.add(ALICE, session_id, NewCheckpoint(data="x" * 9000)).checkpoint
    spending.reset()
    store.checkpoints.add(ALICE, session_id, NewCheckpoint(data=1, parent_id=parent.checkpoint_id))
    assert (dict(spending.calls), spending.write_units) == ({"GetItem": 1, "Query": 1, "PutItem": 1}, 1)


def test_a_keyed_checkpoint_is_two_round_trips_and_a_transaction_of_two_items(
    store: Store, session_id: str, spending: Spending
) -> None:
    for replayed in (False, True):
        spending.reset()
        added = store.keyed_checkpoints.add(ALICE, session_id, NewCheckpoint(data=1), key="k")
        assert added.by_key is replayed
        assert spending.calls == {"GetItem": 1, "TransactWriteItems": 1}
        if not replayed:
            assert spending.write_units == 2 * 2


def test_the_newest_of_a_thousand_checkpoints_costs_what_the_only_one_does(
    store: Store, session_id: str, spending: Spending, on_dynamodb: Storage
) -> None:
    session = store.sessions.get(ALICE, session_id)
    read: list[tuple[dict[str, int], float]] = []
    for count in (1, 999):
        for _ in range(count):
            newest = a_checkpoint(session, "x" * 1000)
            on_dynamodb.checkpoints.put(newest)
        spending.reset()
        assert store.checkpoints.latest(ALICE, session_id).checkpoint_id == newest.checkpoint_id
        read.append((dict(spending.calls), spending.read_units))
    assert read == [({"GetItem": 1, "Query": 1}, 1 + 1)] * 2


def test_expired_checkpoints_on_the_way_to_the_newest_are_read_ever_more_at_once(
    store: Store, session_id: str, spending: Spending, on_dynamodb: Storage, clock: SettableClock
) -> None:
    session = store.sessions.get(ALICE, session_id)
    living = a_checkpoint(session)
    on_dynamodb.checkpoints.put(living)
    for _ in range(300):
        on_dynamodb.checkpoints.put(a_checkpoint(session, ttl=session.created_at // 1000 + 900))
    clock.pass_(900)
    spending.reset()
    assert store.checkpoints.latest(ALICE, session_id) == living
    assert spending.calls["Query"] == 1 + 6 + 2


def test_a_recorded_call_is_two_round_trips_and_three_items_of_a_transaction(
    store: Store, session_id: str, spending: Spending
) -> None:
    store.recorded_calls.record(ALICE, session_id, call(1))
    assert (spending.round_trips, spending.write_units) == (2, 3 * 2)


def test_a_call_is_begun_in_two_round_trips_and_one_unit_and_ended_in_two(
    store: Store, session_id: str, spending: Spending
) -> None:
    begun = store.running_calls.begin(ALICE, session_id, RUN).claim
    assert (spending.calls, spending.write_units) == ({"GetItem": 1, "PutItem": 1}, 1)
    spending.reset()
    store.finished_calls.finish(ALICE, session_id, "run", fence=begun.fence, outcome=FOUND)
    assert spending.calls == {"BatchGetItem": 1, "TransactWriteItems": 1}
    assert spending.write_units == 3 * 2


def test_an_output_of_32_kb_is_written_once(store: Store, session_id: str, spending: Spending) -> None:
    begun = store.running_calls.begin(ALICE, session_id, RUN).claim
    outcome = replace(FOUND, output="x" * 32_000)
    store.finished_calls.finish(ALICE, session_id, "run", fence=begun.fence, outcome=outcome)
    whole_units = 1 + 2 * (1 + 32 + 1)
    assert spending.write_units == whole_units


def test_a_call_that_changes_its_session_is_one_item_and_one_round_trip_more(
    store: Store, session_id: str, spending: Spending
) -> None:
    begun = store.running_calls.begin(ALICE, session_id, RUN).claim
    spending.reset()
    change = SessionChange(operations=StateOperations(increment={"n": 1}))
    store.finished_calls.finish(ALICE, session_id, "run", fence=begun.fence, outcome=FOUND, change=change)
    assert spending.calls == {"BatchGetItem": 1, "TransactWriteItems": 1, "GetItem": 1}
    assert spending.write_units == 4 * 2


def test_a_heartbeat_is_two_round_trips_and_one_unit(
    store: Store, session_id: str, spending: Spending
) -> None:
    begun = store.running_calls.begin(ALICE, session_id, RUN).claim
    spending.reset()
    store.running_calls.heartbeat(ALICE, session_id, "run", fence=begun.fence, lease_seconds=90)
    assert (spending.calls, spending.write_units) == ({"BatchGetItem": 1, "PutItem": 1}, 1)


def test_a_burst_of_heartbeats_and_begins_moves_the_end_of_a_short_session_seldom(
    store: Store, spending: Spending, clock: SettableClock
) -> None:
    new = NewSession(idle_timeout=60, max_lifetime=86_400, state={}, protocol={}, credential_refs=())
    session_id = store.sessions.create(ALICE, new).session_id
    fence = store.running_calls.begin(ALICE, session_id, RUN).claim.fence
    spending.reset()
    for number in range(20):
        clock.pass_(1)
        store.running_calls.heartbeat(ALICE, session_id, "run", fence=fence, lease_seconds=60)
        store.running_calls.begin(ALICE, session_id, replace(RUN, tool_call_id=f"run-{number}"))
    assert spending.calls["PutItem"] == 40
    assert spending.calls["UpdateItem"] <= 2


def test_a_recovery_view_is_four_round_trips_and_one_more_where_tasks_are_open(
    store: Store, session_id: str, spending: Spending
) -> None:
    store.running_calls.begin(ALICE, session_id, RUN)
    for calls in ({"GetItem": 1, "Query": 3}, {"GetItem": 1, "Query": 3, "BatchGetItem": 1}):
        spending.reset()
        store.recovery.find(ALICE, session_id)
        assert (spending.calls, spending.write_units) == (calls, 0)
        store.tasks.create(ALICE, NewTask(queue="recovered", payload=1, session_id=session_id))


def test_a_free_claim_is_begun_in_one_round_trip_and_ended_in_two(store: Store, spending: Spending) -> None:
    key = secrets.token_hex(8)
    claim = store.claims.begin(ALICE, key, NewClaim(input=1))
    assert (spending.calls, spending.write_units) == ({"PutItem": 1}, 1)
    done = ClaimOutcome(status=ClaimStatus.COMPLETED, output=1)
    store.claims.complete(ALICE, key, fence=claim.fence, outcome=done)
    assert (spending.calls, spending.write_units) == ({"PutItem": 2, "GetItem": 1}, 2)


def test_a_mark_is_one_round_trip_and_one_write_of_the_index(
    store: Store, session_id: str, spending: Spending, on_dynamodb: Storage, tables: Settings
) -> None:
    ttl = store.sessions.get(ALICE, session_id).ttl
    spending.reset()
    author = Author(principal="watch", request_id="r")
    mark = ExpiryMark(session_id=session_id, ttl=ttl, region=tables.region, author=author)
    assert on_dynamodb.sessions.mark_warned(mark)
    assert (spending.round_trips, spending.write_units) == (1, 1 + INDEX_WRITES_OF_A_MARK)


def test_a_count_of_few_sessions_is_a_round_trip_for_each_shard(
    spending: Spending, on_dynamodb: Storage, tables: Settings
) -> None:
    home = "home-of-the-counted"
    for _ in range(200):
        kept(on_dynamodb, home_region=home)
    spending.reset()
    assert sum(on_dynamodb.sessions.count_living(Status.ACTIVE, region=home, now_ms=NOW_MS)) == 200
    assert spending.calls == {"Query": tables.status_shards}


def test_a_deletion_is_one_round_trip(store: Store, session_id: str, spending: Spending) -> None:
    store.sessions.delete(ALICE, session_id)
    assert spending.calls == {"TransactWriteItems": 1}
