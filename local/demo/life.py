"""One session's life through the API."""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from local.demo.steps import expect, refused, show, step, title
from local.demo.work import play_work
from session_store_client import Client
from session_store_client.answers import ToolCall
from session_store_client.calls import Call
from session_store_client.child_calls import append_messages, get_history, list_messages, record_tool_call
from session_store_client.errors import (
    SessionClosedError,
    SessionNotFoundError,
    VersionConflictError,
)
from session_store_client.operator_calls import list_expiring
from session_store_client.session_calls import (
    change_state,
    create_session,
    delete_session,
    get_session,
    move_session,
    replace_state,
    touch_session,
)

CALLS: Final = (1, 2, 3)
BOOKING: Final = "booking"
TRANSCRIPT: Final = (("user", "A room in Lisbon, please."), ("assistant", "Found one for 90 EUR."))


def play_life(client: Client, operator: Client) -> None:
    """Every step of a session's life; stops at the first unexpected answer.

    Raises:
        DemoError
    """
    title("create a session: its id is a handle, minted by the store")
    session_id = step(client, create_session(idle_timeout=600, state={"goal": "book a trip"})).session_id

    title("activate it")
    step(client, move_session(session_id, "active"))

    title("record three tool calls in parallel: none is lost")
    _record_in_parallel(client, session_id)
    title("record one of them again, as a retry would: it is stored once")
    step(client, _call(session_id, 1))
    history = step(client, get_history(session_id))
    expect(len(history.items) == len(CALLS), "the history holds each call once")

    play_work(client, session_id)

    title("append messages to the transcript")
    contents = [{"role": role, "text": text} for role, text in TRANSCRIPT]
    appended = step(client, append_messages(session_id, contents))
    title("append them again with the same ids: nothing is duplicated")
    ids = [message.message_id for message in appended.items]
    step(client, append_messages(session_id, contents, message_ids=ids))
    transcript = step(client, list_messages(session_id))
    expect(len(transcript.items) == len(TRANSCRIPT), "the transcript holds each message once")

    title("change the state: three operations, one atomic update, no lock")
    changes = change_state(
        session_id, set={"city": "Lisbon"}, increment={"steps": 1}, append={"seen": ["hotel"]}
    )
    changed = step(client, changes)
    title("replace it at a stale version: refused, nothing is overwritten")
    refused(client, replace_state(session_id, {}, version=changed.version - 1), VersionConflictError)

    title("touch it, which keeps it alive")
    step(client, touch_session(session_id))
    title("list sessions that expire within 15 minutes (an operator's call)")
    expiring = step(operator, list_expiring(within_seconds=900, limit=100))
    expect(any(item.session_id == session_id for item in expiring.items), "the list has this session")

    title("close it: still readable for a day, no longer writable")
    step(client, move_session(session_id, "closing"))
    step(client, move_session(session_id, "closed"))
    refused(client, change_state(session_id, set={"city": "Porto"}), SessionClosedError)
    step(client, get_session(session_id))

    title("delete it: gone at once")
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
