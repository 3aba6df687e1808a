"""What a call in a block can change with its outcome."""

from typing import Any

import pytest

from session_store.domain.page import PageRequest
from session_store.domain.session import Status
from session_store.domain.state_operations import StateOperations
from session_store.domain.task_writes import TaskFilter
from session_store.errors import UnexpectedVersionError
from session_store.services.context import NewMessage
from session_store.services.tasks.new_tasks import NewTask
from session_store.services.tool_calls.begin import NewCall
from tests.support.samples import ALICE
from tests.support.work import CALL, given, once
from tests.support.world import World

ENTIRE = {
    "state": StateOperations(increment={"n": 1}),
    "messages": [NewMessage(content="of the call")],
    "status": Status.CLOSING,
    "tasks": [NewTask(queue="receipts", payload={"order": 7})],
    "expected_version": 2,
    "duration_ms": 7,
}


@pytest.mark.parametrize("awaited", [False, True])
def test_a_call_changes_its_session_with_its_outcome(*, awaited: bool) -> None:
    store = World().store
    work = once(store, CALL, awaited=awaited)

    async def body(call: Any) -> None:
        with pytest.raises(UnexpectedVersionError):
            await given(call.complete("paid", expected_version=1))
        finished = await given(call.complete("paid", **ENTIRE))
        assert (finished.session.version, finished.record.duration_ms) == (3, 7)

    work.run(body)
    session = store.sessions.get(ALICE, work.session_id)
    assert (session.state, session.status) == ({"n": 1}, Status.CLOSING)
    messages: PageRequest[Any] = PageRequest(limit=10)
    (message,) = store.context.page(ALICE, work.session_id, messages).items
    assert message.content == "of the call"
    tasks: PageRequest[Any] = PageRequest(limit=10)
    (task,) = store.tasks.list(ALICE, TaskFilter(session_id=work.session_id), tasks).items
    assert (task.queue, task.payload) == ("receipts", {"order": 7})


def test_a_call_in_the_last_minute_of_its_session_keeps_its_lease() -> None:
    """The session grants one second at a time, however many the call asks for."""
    world = World()
    session_id = world.open(max_lifetime=50).session_id
    new = NewCall(tool_call_id="c1", tool_name="pay", input=1, lease_seconds=60)
    with world.store.tool_call(ALICE, session_id, new) as call:
        for _ in range(9):
            world.clock.pass_(call.lease.pause)
            call.check()
            assert call.lease.renew()
        call.complete("paid")


@pytest.mark.parametrize("awaited", [False, True])
def test_a_failure_may_tell_how_long_it_took(*, awaited: bool) -> None:
    async def body(call: Any) -> None:
        finished = await given(call.fail("no funds", duration_ms=9))
        assert finished.record.duration_ms == 9

    once(World().store, CALL, awaited=awaited).run(body)
