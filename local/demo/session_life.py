"""The life of a session through the API, from its creation to its deletion."""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from local.demo.safe_work import play_safe_work
from local.demo.steps import expect, refused, show, step, title
from session_store_client import Client
from session_store_client.answers import ToolCall
from session_store_client.calls import Call
from session_store_client.errors import (
    SessionClosedError,
    SessionNotFoundError,
    VersionConflictError,
)
from session_store_client.message_calls import append_messages, list_messages
from session_store_client.operator_calls import list_expiring
from session_store_client.session_calls import (
    change_state,
    create_session,
    delete_session,
    get_history,
    get_session,
    move_session,
    replace_state,
    touch_session,
)
from session_store_client.tool_call_calls import record_tool_call

CALLS: Final = (1, 2, 3)
BOOKING: Final = "booking"
TRANSCRIPT: Final = (("user", "A room in Lisbon, please."), ("assistant", "Found one for 90 EUR."))


def play_session_life(client: Client, operator: Client) -> None:
    """Play every step; stop at the first answer that is not the expected one.

    Raises:
        DemoError
    """
    title("Create a session; the store mints its id")
    session_id = step(client, create_session(idle_timeout=600, state={"goal": "book a trip"})).session_id

    title("Move it to active")
    step(client, move_session(session_id, "active"))

    title("Record three tool calls in parallel; none is lost")
    _record_in_parallel(client, session_id)
    title("Record one of them again, as a retry would; it is stored once")
    step(client, _call(session_id, 1))
    history = step(client, get_history(session_id))
    expect(len(history.items) == len(CALLS), "the history has each call once")

    play_safe_work(client, session_id)

    title("Append two messages to the transcript")
    contents = [{"role": role, "text": text} for role, text in TRANSCRIPT]
    appended = step(client, append_messages(session_id, contents))
    title("Append them again with the same ids, as a retry would; they are stored once")
    ids = [message.message_id for message in appended.items]
    step(client, append_messages(session_id, contents, message_ids=ids))
    transcript = step(client, list_messages(session_id))
    expect(len(transcript.items) == len(TRANSCRIPT), "the transcript has each message once")

    title("Change the state: set, increment and append in one atomic update, without a lock")
    changes = change_state(
        session_id, set={"city": "Lisbon"}, increment={"steps": 1}, append={"seen": ["hotel"]}
    )
    changed = step(client, changes)
    title("Replace the state at a stale version; refused, so nothing is overwritten")
    refused(client, replace_state(session_id, {}, version=changed.version - 1), VersionConflictError)

    title("Touch the session to keep it alive")
    step(client, touch_session(session_id))
    title("As an operator, list the sessions that expire within 15 minutes")
    expiring = step(operator, list_expiring(within_seconds=900, limit=100))
    expect(any(item.session_id == session_id for item in expiring.items), "this session is among them")

    title("Close the session; it can be read for a day, but not written")
    step(client, move_session(session_id, "closing"))
    step(client, move_session(session_id, "closed"))
    refused(client, change_state(session_id, set={"city": "Porto"}), SessionClosedError)
    step(client, get_session(session_id))

    title("Delete the session; it is unreadable at once")
    step(client, delete_session(session_id))
    refused(client, get_session(session_id), SessionNotFoundError)


def _call(session_id: str, number: int) -> Call[ToolCall]:
    return record_tool_call(
        session_id,
        f"call-{number}",
        tool_name="search_hotels",
        input={"city": "Lisbon", "page": number},
        output={"found": number * 7, "cheapest": 89.9},
        duration_ms=120 + number,
    )


def _record_in_parallel(client: Client, session_id: str) -> None:
    calls = [_call(session_id, number) for number in CALLS]
    with ThreadPoolExecutor(len(CALLS)) as pool:
        answers = [pool.submit(client.send, call) for call in calls]
    for call, answer in zip(calls, answers, strict=True):
        show(call, answer.result)
