"""Work that must not run twice, and what another worker needs to go on with it."""

from typing import Final

from local.demo.steps import expect, refused, step, title
from session_store_client import Client
from session_store_client.answers import BegunToolCall
from session_store_client.calls import Call
from session_store_client.checkpoint_calls import add_checkpoint, get_latest_checkpoint
from session_store_client.errors import InProgressError
from session_store_client.session_calls import get_recovery
from session_store_client.task_calls import claim_tasks, complete_task, create_task
from session_store_client.tool_call_calls import begin_tool_call, complete_tool_call

BOOKING: Final = "booking"


def play_safe_work(client: Client, session_id: str) -> None:
    """Run a tool call under a lease, take a checkpoint, and work off a task.

    Raises:
        DemoError
    """
    title("Begin a tool call that must not run twice; one worker gets the lease, the other is refused")
    begun = step(client, _booking(session_id, "worker-1"))
    refused(client, _booking(session_id, "worker-2"), InProgressError)
    title("Complete the call and change the session's state in one transaction")
    state = {"set": {"booked": True}}
    done = complete_tool_call(session_id, BOOKING, fence=begun.fence, output={"room": 12}, state=state)
    step(client, done)
    title("Complete and begin it again, as retries would; both return the stored outcome")
    step(client, done)
    expect(step(client, _booking(session_id, "worker-2")).status == "completed", "the call is completed")

    title("Add a checkpoint, and read the latest one")
    checkpoint = step(client, add_checkpoint(session_id, {"step": "booked", "nights": 2}))
    latest = step(client, get_latest_checkpoint(session_id))
    expect(latest == checkpoint, "the latest checkpoint is the one just added")
    title("Put a task into a queue")
    task = step(client, create_task(queue=session_id, payload={"send": "invoice"}, session_id=session_id))
    title("Read what another worker would need to take over: open work and the latest checkpoint")
    recovery = step(client, get_recovery(session_id))
    expect([each.task_id for each in recovery.open_tasks] == [task.task_id], "the task is open")
    expect(recovery.checkpoint == checkpoint and not recovery.in_flight, "no call is in flight")
    title("Claim the task, which gives one worker a lease, and complete it")
    (claimed,) = step(client, claim_tasks(queue=session_id, lease_seconds=30)).items
    step(client, complete_task(claimed.task_id, fence=claimed.fence, result={"sent": True}))
    expect(not step(client, get_recovery(session_id)).open_tasks, "no task is open")


def _booking(session_id: str, attempt: str) -> Call[BegunToolCall]:
    return begin_tool_call(
        session_id, BOOKING, tool_name="book_hotel", input={"city": "Lisbon"}, attempt_id=attempt
    )
