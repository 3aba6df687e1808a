"""``python -m local.demo``: one session's life through the API, step by step.

Plays against the stack that ``make run`` has started; where none runs, it starts
one, plays, and stops it again.
"""

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from local import tenants
from local.deployment import DeploymentError, deploy
from local.emulator import EmulatorError, free_port, running
from local.run import API_URL, CREDENTIALS, STATE, say
from local.signed_http import Answer, Api

TENANT: Final = "tenant-a"
SHOWN: Final = 160


class DemoError(RuntimeError):
    """A step had another answer than it should; the message shows it."""


def main() -> int:
    try:
        with _api() as api:
            play(api)
    except ConnectionError:
        print(
            f"error: nothing answers at the URL in {STATE / API_URL}: is `make run` running?", file=sys.stderr
        )
        return 1
    except (DemoError, EmulatorError, DeploymentError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


@contextlib.contextmanager
def _api() -> Iterator[Api]:
    if (STATE / API_URL).exists():
        yield Api((STATE / API_URL).read_text().strip(), tenants.read(STATE / CREDENTIALS)[TENANT])
        return
    with tempfile.TemporaryDirectory(prefix="session-store-") as folder:
        say("no stack runs here: starting one for this demo alone")
        with running(Path(folder), port=free_port()) as emulator:
            deployed = deploy(emulator, delegates=tenants.PRINCIPALS, say=say)
            keys = tenants.provision(emulator, api_id=deployed.api_id, file=Path(folder) / CREDENTIALS)
            yield Api(deployed.api_url, keys[TENANT])


def play(api: Api) -> None:
    """Every step of a session's life; stops at the first answer that is not the right one.

    Raises:
        DemoError
    """
    _title("create a session: its id is a handle, minted by the store")
    session = _step(api, 201, "POST", "/sessions", {"idleTimeout": 600, "state": {"goal": "book a trip"}})
    path = f"/sessions/{session['sessionId']}"

    _title("activate it")
    _step(api, 200, "POST", f"{path}/status", {"to": "active"})

    _title("record three tool calls at once: none of them is lost")
    _record_in_parallel(api, path)
    _title("record one of them again, as a retry would: it is there already")
    _step(api, 200, "PUT", f"{path}/tool-calls/call-1", _call(1))
    history = _step(api, 200, "GET", f"{path}/history")
    _expect(len(history["items"]) == len(CALLS), "the history holds each call once")

    _title("append to the transcript")
    messages = [{"content": {"role": role, "text": text}} for role, text in TRANSCRIPT]
    appended = _step(api, 201, "POST", f"{path}/context", {"messages": messages})
    _title("and once more with the same ids: nothing is doubled")
    again = [{"messageId": item["messageId"], "content": item["content"]} for item in appended["items"]]
    _step(api, 200, "POST", f"{path}/context", {"messages": again})
    transcript = _step(api, 200, "GET", f"{path}/context")
    _expect(len(transcript["items"]) == len(TRANSCRIPT), "the transcript holds each message once")

    _title("change the state: three operations, one atomic update, no lock")
    changes = {"set": {"city": "Lisbon"}, "increment": {"steps": 1}, "append": {"seen": ["hotel"]}}
    changed = _step(api, 200, "PATCH", f"{path}/state", changes)
    _title("replace it at a version that is gone: refused, nothing is overwritten")
    _step(api, 412, "PUT", f"{path}/state", {}, headers={"If-Match": f'"{changed["version"] - 1}"'})

    _title("touch it: a sign of life")
    _step(api, 200, "POST", f"{path}/touch")
    _title("which sessions end within fifteen minutes? (operators ask this)")
    expiring = _step(api, 200, "GET", "/ops/expiring?withinSeconds=900&limit=100")
    _expect(
        any(item["sessionId"] == session["sessionId"] for item in expiring["items"]), "ours is among them"
    )

    _title("close it: readable for a day, writable no more")
    _step(api, 200, "POST", f"{path}/status", {"to": "closing"})
    _step(api, 200, "POST", f"{path}/status", {"to": "closed"})
    _step(api, 409, "PATCH", f"{path}/state", {"set": {"city": "Porto"}})
    _step(api, 200, "GET", path)

    _title("delete it: gone at once")
    _step(api, 204, "DELETE", path)
    _step(api, 404, "GET", path)
    print("\ndone: every answer was the right one")


CALLS: Final = (1, 2, 3)
TRANSCRIPT: Final = (("user", "A room in Lisbon, please."), ("assistant", "Found one for 90 EUR."))


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
        _show(201, "PUT", f"{path}/tool-calls/call-{number}", answer)


def _step(
    api: Api,
    status: int,
    method: str,
    path: str,
    body: object = None,
    *,
    headers: Mapping[str, str] | None = None,
) -> Any:  # noqa: ANN401 - a JSON body
    return _show(status, method, path, api.call(method, path, body, headers))


def _show(status: int, method: str, path: str, answer: Answer) -> Any:  # noqa: ANN401 - a JSON body
    text = answer.body.decode()
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    print(f"  {method} {path}\n    {answer.status} {shown}")
    _expect(answer.status == status, f"{method} {path} is answered {status}, not {answer.status}: {text}")
    return json.loads(text) if text else None


def _title(text: str) -> None:
    print(f"\n{text}")


def _expect(holds: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not holds:
        raise DemoError(f"expected that {what}")


if __name__ == "__main__":
    sys.exit(main())
