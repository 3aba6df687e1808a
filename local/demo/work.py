"""Work that outlives its worker: calls that must not run twice, and what another goes on from."""

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


def play_work(client: Client, session_id: str) -> None:
    """Raises:
    DemoError
    """
    title("begin a call that must not run twice: whoever may run it holds a fence")
    begun = step(client, _booking(session_id, "worker-1"))
    refused(client, _booking(session_id, "worker-2"), InProgressError)
    title("complete it, and change the session with it, in one transaction")
    state = {"set": {"booked": True}}
    done = complete_tool_call(session_id, BOOKING, fence=begun.fence, output={"room": 12}, state=state)
    step(client, done)
    title("complete it again, begin it again: it is not run again, its outcome is told")
    step(client, done)
    expect(step(client, _booking(session_id, "worker-2")).status == "completed", "it is completed")

    title("take a checkpoint: what another worker would go on from")
    taken = step(client, add_checkpoint(session_id, {"step": "booked", "nights": 2}))
    newest = step(client, get_latest_checkpoint(session_id))
    expect(newest == taken, "the newest checkpoint is the one just taken")
    title("leave a task to whoever is free, and take it: one worker has it, under a lease")
    made = step(client, create_task(queue=session_id, payload={"send": "invoice"}, session_id=session_id))
    title("what would another worker find now? (who takes a session up asks this)")
    found = step(client, get_recovery(session_id))
    expect([each.task_id for each in found.open_tasks] == [made.task_id], "the task is open")
    expect(found.checkpoint == taken and not found.in_flight, "the checkpoint is there, nothing is in flight")
    (task,) = step(client, claim_tasks(queue=session_id, lease_seconds=30)).items
    step(client, complete_task(task.task_id, fence=task.fence, result={"sent": True}))
    expect(not step(client, get_recovery(session_id)).open_tasks, "no task is open any more")


def _booking(session_id: str, attempt: str) -> Call[BegunToolCall]:
    return begin_tool_call(
        session_id, BOOKING, tool_name="book_hotel", input={"city": "Lisbon"}, attempt_id=attempt
    )
