"""Messages of one append are independent: the answer where only some could be stored."""

from collections.abc import Callable, Sequence

import pytest

from session_store.domain.message import Message
from session_store.errors import OutcomeUnknownError, StoreError, ThrottledError
from session_store.services.context import NewMessage
from session_store.storage.memory.messages import MemoryMessages
from tests.support.samples import ALICE
from tests.support.world import World

MESSAGES = [NewMessage(content=number) for number in range(5)]


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[int, StoreError]], None]:
    """Make the put of a message fail, by content; ``OutcomeUnknownError`` only after it was stored."""

    def fail(errors: dict[int, StoreError]) -> None:
        put = MemoryMessages.put

        def failing(storage: MemoryMessages, message: Message) -> Message | None:
            error = errors.get(message.content)
            if error is None or isinstance(error, OutcomeUnknownError):
                held = put(storage, message)
            if error is not None:
                raise error
            return held

        monkeypatch.setattr(MemoryMessages, "put", failing)

    return fail


def appended(world: World) -> tuple[str, Sequence[object]]:
    """The name of the error that an append of ``MESSAGES`` raises, and the stored contents."""
    session_id = world.open().session_id
    with pytest.raises(StoreError) as raised:
        world.store.context.append(ALICE, session_id, MESSAGES)
    stored = world.memory.messages.get(session_id, {})
    return type(raised.value).__name__, sorted(message.content for message in stored.values())


@pytest.mark.parametrize("throttled", [{0}, {4}, {0, 1, 2, 3}])
def test_some_stored_and_some_throttled_is_an_unknown_outcome(
    world: World, fail: Callable[[dict[int, StoreError]], None], throttled: set[int]
) -> None:
    fail({number: ThrottledError() for number in throttled})
    assert appended(world) == ("OutcomeUnknownError", sorted(set(range(5)) - throttled))


def test_all_throttled_is_a_busy_store(world: World, fail: Callable[[dict[int, StoreError]], None]) -> None:
    fail({number: ThrottledError() for number in range(5)})
    assert appended(world) == ("ThrottledError", [])


def test_one_that_may_be_stored_beside_throttled_ones_is_an_unknown_outcome(
    world: World, fail: Callable[[dict[int, StoreError]], None]
) -> None:
    fail({number: OutcomeUnknownError() if number == 2 else ThrottledError() for number in range(5)})
    assert appended(world) == ("OutcomeUnknownError", [2])


def test_what_is_appended_again_after_an_unknown_outcome_is_there_once(
    world: World, fail: Callable[[dict[int, StoreError]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = world.open().session_id
    new = [
        NewMessage(content=number, message_id=world.ids.message_id(world.clock.now)) for number in range(3)
    ]
    fail({1: ThrottledError()})
    with pytest.raises(OutcomeUnknownError):
        world.store.context.append(ALICE, session_id, new)
    assert world.slides == []
    monkeypatch.undo()
    again = world.store.context.append(ALICE, session_id, new)
    assert [message.content for message in again.messages] == [0, 1, 2]
    assert again.created
    assert len(world.memory.messages[session_id]) == 3
