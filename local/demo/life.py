"""One session's life through the API."""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from local.demo.steps import expect, refused, show, step, title
from local.demo.work import play_work
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


def play_life(client: Client, operator: Client) -> None:
    """Every step of a session's life; stops at the first answer that is not the right one.

    Raises:
        DemoError
    """
    title("create a session: its id is a handle, minted by the store")
    session_id = step(client, create_session(idle_timeout=600, state={"goal": "book a trip"})).session_id

    title("activate it")
    step(client, move_session(session_id, "active"))

    title("record three tool calls at once: none of them is lost")
    _record_in_parallel(client, session_id)
    title("record one of them again, as a retry would: it is there already")
    step(client, _call(session_id, 1))
    history = step(client, get_history(session_id))
    expect(len(history.items) == len(CALLS), "the history holds each call once")

    play_work(client, session_id)

    title("append to the transcript")
    contents = [{"role": role, "text": text} for role, text in TRANSCRIPT]
    appended = step(client, append_messages(session_id, contents))
    title("and once more with the same ids: nothing is doubled")
    ids = [message.message_id for message in appended.items]
    step(client, append_messages(session_id, contents, message_ids=ids))
    transcript = step(client, list_messages(session_id))
    expect(len(transcript.items) == len(TRANSCRIPT), "the transcript holds each message once")

    title("change the state: three operations, one atomic update, no lock")
    changes = change_state(
        session_id, set={"city": "Lisbon"}, increment={"steps": 1}, append={"seen": ["hotel"]}
    )
    changed = step(client, changes)
    title("replace it at a version that is gone: refused, nothing is overwritten")
    refused(client, replace_state(session_id, {}, version=changed.version - 1), VersionConflictError)

    title("touch it: a sign of life")
    step(client, touch_session(session_id))
    title("which sessions end within fifteen minutes? (operators ask this)")
    expiring = step(operator, list_expiring(within_seconds=900, limit=100))
    expect(any(item.session_id == session_id for item in expiring.items), "ours is among them")

    title("close it: readable for a day, writable no more")
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
