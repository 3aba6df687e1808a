"""What every CheckpointStorage promises."""

from decimal import Decimal
from functools import partial

import pytest
from msgspec.structs import replace

from session_store.domain.checkpoint import Checkpoint
from session_store.domain.idempotency_key import KeyClaim
from session_store.domain.page import CheckpointPosition, PageRequest
from session_store.domain.session import Session
from session_store.ports import Storage
from session_store.storage.dynamodb.partition import PAGE_BYTES
from tests.support.pages import every_item
from tests.support.samples import (
    NOW_MS,
    NOW_SECONDS,
    SESSION_ID,
    a_checkpoint,
    a_key_claim,
    a_message,
    a_session,
    operation_id,
)


def found(storage: Storage, session: Session, namespace: str = "") -> tuple[Checkpoint, ...]:
    return storage.checkpoints.page(session.session_id, namespace, PageRequest(limit=100)).items


def claim_of(checkpoint: Checkpoint) -> KeyClaim:
    return a_key_claim(target=checkpoint.checkpoint_id)


def read(storage: Storage, checkpoint: Checkpoint) -> Checkpoint | None:
    return storage.checkpoints.read(checkpoint.session_id, checkpoint.namespace, checkpoint.checkpoint_id)


@pytest.mark.parametrize(
    "data", [None, "", {"text": "ß", "": [0, Decimal("0.1"), 9007199254740993]}, [[]], False]
)
@pytest.mark.parametrize("parent_id", [None, "a parent"])
def test_a_checkpoint_is_read_back_equal(storage: Storage, data: object, parent_id: str | None) -> None:
    session = a_session()
    checkpoint = a_checkpoint(session, data, namespace="a#b%", parent_id=parent_id)
    assert storage.checkpoints.put(checkpoint) is None
    assert read(storage, checkpoint) == checkpoint
    assert found(storage, session, "a#b%") == (checkpoint,)


def test_an_id_that_is_taken_keeps_what_it_has(storage: Storage) -> None:
    session = a_session()
    checkpoint = a_checkpoint(session)
    storage.checkpoints.put(checkpoint)
    other = replace(checkpoint, data="other", content_hash="other", taken_at=NOW_MS + 1)
    assert storage.checkpoints.put(other) == checkpoint
    assert found(storage, session) == (checkpoint,)


@pytest.mark.parametrize("keyed", [False, True])
def test_an_expired_checkpoint_counts_as_none(storage: Storage, *, keyed: bool) -> None:
    session = a_session()
    checkpoint = a_checkpoint(session, ttl=NOW_SECONDS)
    storage.checkpoints.put(checkpoint)
    other = replace(checkpoint, data="other", ttl=NOW_SECONDS + 60)
    if keyed:
        assert storage.checkpoints.put_under_key(other, claim_of(other)) is None
    else:
        assert storage.checkpoints.put(other) is None
    assert found(storage, session) == (other,)


def test_a_checkpoint_and_its_claim_are_kept_together(storage: Storage) -> None:
    session = a_session()
    first, second = a_checkpoint(session), a_checkpoint(session)
    claim = claim_of(first)
    assert storage.checkpoints.read_claim(claim.key_hash) is None
    assert storage.checkpoints.put_under_key(first, claim) is None
    assert storage.checkpoints.read_claim(claim.key_hash) == claim
    again = replace(claim, operation_id=operation_id())
    assert storage.checkpoints.put_under_key(second, again) == claim
    assert found(storage, session) == (first,)


def test_the_very_same_operation_again_is_done_and_not_done_twice(storage: Storage) -> None:
    session = a_session()
    checkpoint = a_checkpoint(session)
    claim = claim_of(checkpoint)
    for _ in range(2):
        assert storage.checkpoints.put_under_key(checkpoint, claim) is None
    assert found(storage, session) == (checkpoint,)


def test_a_claim_is_judged_before_the_id(storage: Storage) -> None:
    session = a_session()
    checkpoint = a_checkpoint(session)
    claim = claim_of(checkpoint)
    storage.checkpoints.put_under_key(checkpoint, claim)
    again = replace(claim, operation_id=operation_id())
    assert storage.checkpoints.put_under_key(replace(checkpoint, taken_at=NOW_MS + 1), again) == claim


def test_an_id_that_is_taken_leaves_the_key_free(storage: Storage) -> None:
    session = a_session()
    taken, other = a_checkpoint(session), a_checkpoint(session, "other")
    storage.checkpoints.put(taken)
    claim = claim_of(taken)
    refused = replace(taken, data="another", content_hash="another", taken_at=NOW_MS + 1)
    assert storage.checkpoints.put_under_key(refused, claim) == taken
    assert storage.checkpoints.read_claim(claim.key_hash) is None
    free = replace(claim, operation_id=operation_id())
    assert storage.checkpoints.put_under_key(other, free) is None
    assert found(storage, session) == (taken, other)


@pytest.mark.parametrize(("seconds", "there"), [(-1, False), (0, False), (1, True)])
def test_only_a_checkpoint_that_has_not_ended_is_had(storage: Storage, seconds: int, *, there: bool) -> None:
    checkpoint = a_checkpoint(a_session(), namespace="n", ttl=NOW_SECONDS + seconds)
    storage.checkpoints.put(checkpoint)
    has = partial(storage.checkpoints.has, now_ms=NOW_MS)
    assert has(checkpoint.session_id, "n", checkpoint.checkpoint_id) is there
    assert not has(checkpoint.session_id, "", checkpoint.checkpoint_id)
    assert not has(SESSION_ID, "n", checkpoint.checkpoint_id)
    assert not has(checkpoint.session_id, "n", checkpoint.checkpoint_id[:-1])


@pytest.mark.parametrize("descending", [True, False])
def test_checkpoints_come_in_the_order_of_their_ids_page_by_page(
    storage: Storage, *, descending: bool
) -> None:
    session = a_session()
    checkpoints = [a_checkpoint(session, "x" * 10_000, namespace="n") for _ in range(25)]
    for checkpoint in reversed(checkpoints):
        storage.checkpoints.put(checkpoint)
    storage.checkpoints.put(a_checkpoint(a_session(), namespace="n"))
    storage.messages.put(a_message(session))
    read_page = partial(storage.checkpoints.page, session.session_id, "n")
    assert every_item(read_page, limit=7, descending=descending) == (
        checkpoints[::-1] if descending else checkpoints
    )


def test_no_namespace_shows_another(storage: Storage) -> None:
    session = a_session()
    names = ["", "a", "a#b", "a%23b", "#", "a#", "b"]
    there = {name: a_checkpoint(session, name, namespace=name) for name in names}
    for checkpoint in there.values():
        storage.checkpoints.put(checkpoint)
    for name, checkpoint in there.items():
        assert found(storage, session, name) == (checkpoint,)
        newest = PageRequest[CheckpointPosition](limit=1, descending=True)
        assert storage.checkpoints.page(session.session_id, name, newest).items == (checkpoint,)
    assert found(storage, session, "a%") == ()


def test_a_page_ends_by_its_bytes_before_an_answer_would_be_too_large(storage: Storage) -> None:
    session = a_session()
    checkpoints = [a_checkpoint(session, "x" * 300_000) for _ in range(9)]
    for checkpoint in checkpoints:
        storage.checkpoints.put(checkpoint)
    page = storage.checkpoints.page(session.session_id, "", PageRequest(limit=100))
    assert sum(len(each.data) for each in page.items[:-1]) < PAGE_BYTES
    assert page.next is not None
    read_page = partial(storage.checkpoints.page, session.session_id, "")
    assert every_item(read_page, limit=100) == checkpoints
