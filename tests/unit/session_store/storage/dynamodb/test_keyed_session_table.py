"""The outcome of a write that conflicts with another request under the same key."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from session_store.errors import OutcomeUnknownError, StoreError, ThrottledError
from session_store.storage.dynamodb.attempts import Attempts
from session_store.storage.dynamodb.client import Client, TransactionRefusedError
from session_store.storage.dynamodb.keyed_session_table import KeyedSessionTable
from session_store.storage.dynamodb.keyed_writes import CLAIM, CONFLICT_ATTEMPTS, WRITE
from tests.support.samples import a_key_claim, a_session


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusing:
    """A client whose transactions end in the given ways, one after another."""

    ends: Iterator[Exception]
    table: str = "sessions"
    attempts: Attempts = field(default_factory=lambda: Attempts(sleep=lambda _: None))

    def transact(self, *_: Any, **__: Any) -> None:
        raise next(self.ends)


def met(*, answer_lost: bool) -> TransactionRefusedError:
    return TransactionRefusedError({}, answer_lost=answer_lost, conflicting=frozenset({CLAIM}))


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ([met(answer_lost=True), ThrottledError()], OutcomeUnknownError),
        (
            [met(answer_lost=True), *(met(answer_lost=False) for _ in range(CONFLICT_ATTEMPTS))],
            OutcomeUnknownError,
        ),
        ([met(answer_lost=False), ThrottledError()], ThrottledError),
        ([met(answer_lost=False) for _ in range(CONFLICT_ATTEMPTS)], ThrottledError),
    ],
    ids=["lost, then throttled", "lost, then met to the end", "throttled", "met to the end"],
)
def test_a_response_lost_in_one_attempt_is_remembered_in_the_next(
    ends: list[Exception], told: type[StoreError]
) -> None:
    table = KeyedSessionTable(client=cast("Client", Refusing(ends=iter(ends))), shards=4)
    with pytest.raises(told):
        table.create(a_session(), a_key_claim())


def test_a_minted_id_that_is_taken_is_an_assertion_error() -> None:
    ends = iter([TransactionRefusedError({WRITE: {}}, answer_lost=False)])
    table = KeyedSessionTable(client=cast("Client", Refusing(ends=ends)), shards=4)
    with pytest.raises(AssertionError):
        table.create(a_session(), a_key_claim())
