"""Free claims on DynamoDB: on bad days, and when their worker is gone."""

import secrets
from collections.abc import Callable
from decimal import Decimal

import pytest

from session_store.domain.claim import ClaimStatus
from session_store.errors import FencedError, IdempotencyMismatchError, NotFoundError, ThrottledError
from session_store.schema import CLAIM_SK, Attribute, claim_pk
from session_store.services.free_claims import ClaimOutcome, NewClaim
from session_store.settings import Settings
from session_store.storage.dynamodb.codec import to_item
from tests.support.faults import (
    EVERY_WRITE,
    crash_at,
    refuse,
    throttled,
)
from tests.support.samples import ALICE, NOW_SECONDS
from tests.support.workers import CrashError, Worker

DONE = ClaimOutcome(status=ClaimStatus.COMPLETED, output=7)


@pytest.fixture
def key() -> str:
    return secrets.token_hex(8)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ["begin", "complete"])
def test_a_claim_whose_worker_dies_at_its_write_is_gone_on_with(
    worker: Worker, other: Worker, step: str, *, after: bool
) -> None:
    key = secrets.token_hex(8)
    new = NewClaim(input=1, attempt_id="a")
    done = ClaimOutcome(status=ClaimStatus.COMPLETED, output=7)
    fence = other.store.claims.begin(ALICE, key, new).fence if step == "complete" else 0
    crash_at(worker.client, 0, CrashError, after=after, operations=EVERY_WRITE)
    steps: dict[str, Callable[[], object]] = {
        "begin": lambda: worker.store.claims.begin(ALICE, key, new),
        "complete": lambda: worker.store.claims.complete(ALICE, key, fence=fence, outcome=done),
    }
    with pytest.raises(CrashError):
        steps[step]()
    fence = fence or other.store.claims.begin(ALICE, key, new).fence
    again = other.store.claims.complete(ALICE, key, fence=fence, outcome=done)
    assert (again.claim.output, again.replayed) == (7, after and step == "complete")


def test_a_claim_that_cannot_be_written_is_not_there(worker: Worker) -> None:
    key = secrets.token_hex(8)
    refuse(worker.client, "PutItem", [throttled()] * 3)
    with pytest.raises(ThrottledError):
        worker.store.claims.begin(ALICE, key, NewClaim(input=1))
    with pytest.raises(NotFoundError):
        worker.store.claims.get(ALICE, key)


def test_reordered_keys_of_an_input_are_a_replay_and_another_input_changes_nothing(
    worker: Worker, key: str
) -> None:
    claims = worker.store.claims
    begun = claims.begin(ALICE, key, NewClaim(input={"a": 1, "b": [Decimal("0.1"), 9007199254740993]}))
    claims.complete(ALICE, key, fence=begun.fence, outcome=DONE)
    again = claims.begin(ALICE, key, NewClaim(input={"b": [Decimal("0.1"), 9007199254740993], "a": 1}))
    assert (again.status, again.output) == (ClaimStatus.COMPLETED, 7)
    before = claims.get(ALICE, key)
    with pytest.raises(IdempotencyMismatchError):
        claims.begin(ALICE, key, NewClaim(input={"a": 2}))
    assert claims.get(ALICE, key) == before
    assert before.input == {"a": 1, "b": [Decimal("0.1"), 9007199254740993]}


@pytest.mark.parametrize("reaped", [False, True], ids=["expired", "reaped"])
def test_a_worker_whose_key_has_expired_and_been_begun_anew_is_fenced(
    worker: Worker, other: Worker, tables: Settings, key: str, *, reaped: bool
) -> None:
    first = worker.store.claims.begin(ALICE, key, NewClaim(input=1))
    worker.clock.pass_(first.ttl - NOW_SECONDS)
    if reaped:
        key_of: dict[str, str] = {Attribute.PK: claim_pk(first.key_hash), Attribute.SK: CLAIM_SK}
        worker.client.delete_item(TableName=tables.table, Key=to_item(key_of))
    second = other.store.claims.begin(ALICE, key, NewClaim(input=1))
    assert second.fence > first.fence
    with pytest.raises(FencedError):
        worker.store.claims.complete(ALICE, key, fence=first.fence, outcome=DONE)
    result = ClaimOutcome(status=ClaimStatus.COMPLETED, output="newer")
    other.store.claims.complete(ALICE, key, fence=second.fence, outcome=result)
    with pytest.raises(FencedError):
        worker.store.claims.complete(ALICE, key, fence=first.fence, outcome=DONE)
    assert other.store.claims.get(ALICE, key).output == "newer"
