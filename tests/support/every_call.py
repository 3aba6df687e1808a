"""One call of each kind, for what must hold of all of them."""

from local.signed_http import Answer
from tests.support.calls import Calls, message_id, running_call, tool_call


def every_write(api: Calls, session_id: str) -> dict[str, Answer]:
    """Every write but a move and a delete."""
    path = f"/sessions/{session_id}"
    return {
        "set": api.call("PATCH", f"{path}/state", {"set": {"late": 1}}),
        "increment": api.call("PATCH", f"{path}/state", {"increment": {"late": 1}}),
        "append": api.call("PATCH", f"{path}/state", {"append": {"late": [1]}}),
        "remove": api.call("PATCH", f"{path}/state", {"remove": ["early"]}),
        "replace": api.call("PUT", f"{path}/state", {"late": 1}, {"If-Match": "*"}),
        "touch": api.call("POST", f"{path}/touch"),
        "message": api.call("POST", f"{path}/context", {"messages": [{"content": "late"}]}),
        "messages": api.call(
            "POST", f"{path}/context", {"messages": [{"content": 1}, {"content": 2}], "atomic": True}
        ),
        "own id": api.call(
            "POST", f"{path}/context", {"messages": [{"content": "late", "messageId": message_id()}]}
        ),
        "checkpoint": api.call("POST", f"{path}/checkpoints", {"data": "late"}),
        "own checkpoint id": api.call(
            "POST", f"{path}/checkpoints", {"data": "late", "checkpointId": message_id()}
        ),
        "tool call": api.call("PUT", f"{path}/tool-calls/late", tool_call()),
        "begin": api.call("POST", f"{path}/tool-calls", running_call("begun-late")),
    }


def every_read(api: Calls, session_id: str) -> dict[str, Answer]:
    path = f"/sessions/{session_id}"
    return {
        "session": api.call("GET", path),
        "context": api.call("GET", f"{path}/context"),
        "checkpoints": api.call("GET", f"{path}/checkpoints"),
        "newest checkpoint": api.call("GET", f"{path}/checkpoints/latest"),
        "tool calls": api.call("GET", f"{path}/tool-calls"),
        "tool call": api.call("GET", f"{path}/tool-calls/early"),
        "history": api.call("GET", f"{path}/history"),
        "recovery": api.call("GET", f"{path}/recovery"),
    }
