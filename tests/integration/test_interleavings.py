"""Interleaved clients on DynamoDB, whose every write may lose its answer."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase
from hypothesis import settings as profile
from hypothesis.stateful import run_state_machine_as_test

from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.settings import Settings
from session_store.store import store_on
from tests.support.child_interleavings import Interleavings
from tests.support.losses import losses_of
from tests.support.weather import Loss, Stage, Weather
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

FEW = profile(max_examples=12, stateful_step_count=25, phases=[Phase.generate])


@pytest.fixture
def machine(dynamodb: "DynamoDBClient", tables: Settings) -> type[Interleavings]:
    losses = losses_of(dynamodb, Deadline())

    def on_dynamodb() -> Stage:
        storage = dynamodb_storage(tables, dynamodb, losses.deadline)
        clock = SettableClock()

        def lose(loss: Loss) -> None:
            losses.lose(0, and_the_time=loss is Loss.LATE)

        def clear() -> bool:
            was_lost = bool(losses.lost)
            losses.lose(None)
            return was_lost

        return Stage(
            storage=storage,
            store=store_on(storage, tables, clock=clock, deadline=losses.deadline),
            clock=clock,
            weather=Weather(lose=lose, clear=clear),
        )

    class OnDynamoDB(Interleavings):
        opened = staticmethod(on_dynamodb)

    return OnDynamoDB


def test_interleaved_clients_find_what_the_model_says(machine: type[Interleavings]) -> None:
    run_state_machine_as_test(machine, settings=FEW)
