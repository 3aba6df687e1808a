"""One session's life through the API."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from local.demo.steps import expect, show, step, title
from local.signed_http import Answer, Api

CALLS: Final = (1, 2, 3)
TRANSCRIPT: Final = (("user", "A room in Lisbon, please."), ("assistant", "Found one for 90 EUR."))


def play_life(api: Api, operator: Api) -> None:
    """Every step of a session's life; stops at the first answer that is not the right one.

    Raises:
        DemoError
    """
    title("create a session: its id is a handle, minted by the store")
    session = step(api, 201, "POST", "/sessions", {"idleTimeout": 600, "state": {"goal": "book a trip"}})
    path = f"/sessions/{session['sessionId']}"

    title("activate it")
    step(api, 200, "POST", f"{path}/status", {"to": "active"})

    title("record three tool calls at once: none of them is lost")
    _record_in_parallel(api, path)
    title("record one of them again, as a retry would: it is there already")
    step(api, 200, "PUT", f"{path}/tool-calls/call-1", _call(1))
    history = step(api, 200, "GET", f"{path}/history")
    expect(len(history["items"]) == len(CALLS), "the history holds each call once")

    title("append to the transcript")
    messages = [{"content": {"role": role, "text": text}} for role, text in TRANSCRIPT]
    appended = step(api, 201, "POST", f"{path}/context", {"messages": messages})
    title("and once more with the same ids: nothing is doubled")
    again = [{"messageId": item["messageId"], "content": item["content"]} for item in appended["items"]]
    step(api, 200, "POST", f"{path}/context", {"messages": again})
    transcript = step(api, 200, "GET", f"{path}/context")
    expect(len(transcript["items"]) == len(TRANSCRIPT), "the transcript holds each message once")

    title("change the state: three operations, one atomic update, no lock")
    changes = {"set": {"city": "Lisbon"}, "increment": {"steps": 1}, "append": {"seen": ["hotel"]}}
    changed = step(api, 200, "PATCH", f"{path}/state", changes)
    title("replace it at a version that is gone: refused, nothing is overwritten")
    step(api, 412, "PUT", f"{path}/state", {}, headers={"If-Match": f'"{changed["version"] - 1}"'})

    title("touch it: a sign of life")
    step(api, 200, "POST", f"{path}/touch")
    title("which sessions end within fifteen minutes? (operators ask this)")
    expiring = step(operator, 200, "GET", "/ops/expiring?withinSeconds=900&limit=100")
    expect(any(item["sessionId"] == session["sessionId"] for item in expiring["items"]), "ours is among them")

    title("close it: readable for a day, writable no more")
    step(api, 200, "POST", f"{path}/status", {"to": "closing"})
    step(api, 200, "POST", f"{path}/status", {"to": "closed"})
    step(api, 409, "PATCH", f"{path}/state", {"set": {"city": "Porto"}})
    step(api, 200, "GET", path)

    title("delete it: gone at once")
    step(api, 204, "DELETE", path)
    step(api, 404, "GET", path)


def _call(number: int) -> dict[str, Any]:
    return {
        "toolName": "search_hotels",
        "input": {"city": "Lisbon", "page": number},
        "output": {"found": number * 7, "cheapest": 89.9},
        "durationMs": 120 + number,
    }


def _record_in_parallel(api: Api, path: str) -> None:
    def record(number: int) -> Answer:
        return api.call("PUT", f"{path}/tool-calls/call-{number}", _call(number))

    with ThreadPoolExecutor(len(CALLS)) as pool:
        answers = list(pool.map(record, CALLS))
    for number, answer in zip(CALLS, answers, strict=True):
        show(201, "PUT", f"{path}/tool-calls/call-{number}", answer)
