"""A case of a lost answer, and how its call is sent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.support.api import Answer
from tests.support.loss_effects import (
    NEW,
    Count,
)
from tests.support.loss_scenes import SESSION, TASK, TASKS, Scene

Send = Callable[[Scene], Answer]


@dataclass(frozen=True, kw_only=True)
class Case:
    """``happened`` counts how often; ``again``: who hears nothing may send it again."""

    name: str
    method: str
    path: str
    send: Send
    happened: Count
    again: bool = True
    moves: bool = True
    """Whether it moves the window, too, which is due."""


def task_case(step: str, happened: Count, name: str = "", **body: object) -> Case:
    """Of a task that is in hand, or of an approval."""

    def send(scene: Scene) -> Answer:
        fence = {} if step in ("cancel", "decide") else {"fence": scene.fence}
        whole = {**fence, **body}
        if "next" in body:
            whole["next"] = [{"queue": scene.queue, "payload": 2}]
        return scene.call("POST", f"{TASK}/{step}", whole or None)

    return Case(
        name=f"{step} {name or 'a task'}",
        method="POST",
        path=f"{TASK}/{step}",
        send=send,
        happened=happened,
        moves=False,
    )


def creating(**more: Any) -> Send:
    headers = more.pop("headers", {})

    def send(scene: Scene) -> Answer:
        body = {"queue": scene.queue, "payload": 1, **more}
        if "sessionId" in more:
            body["sessionId"] = scene.session_id
        return scene.call("POST", TASKS, body, **headers)

    return send


def appending(*, count: int, named: bool, atomic: bool) -> Send:
    def send(scene: Scene) -> Answer:
        ids = [{"messageId": each} if named else {} for each in scene.ids[:count]]
        batch = [{"content": number, **each} for number, each in enumerate(ids)]
        return scene.call("POST", f"{SESSION}/context", {"messages": batch, "atomic": atomic})

    return send


def adding(*, named: bool, parent: bool, **headers: str) -> Send:
    def send(scene: Scene) -> Answer:
        body: dict[str, Any] = {"data": NEW}
        if named:
            body["checkpointId"] = scene.ids[0]
        if parent:
            body["parentId"] = scene.checkpoint_id
        return scene.call("POST", f"{SESSION}/checkpoints", body, **headers)

    return send


def a_case(name: str, method: str, path: str, happened: Count, body: object = None, **rest: Any) -> Case:
    headers = rest.pop("headers", {})
    send = rest.pop("send", lambda scene: scene.call(method, path, body, **headers))
    return Case(name=name, method=method, path=path, send=send, happened=happened, **rest)


def patch_case(name: str, happened: Count, body: dict[str, Any], **rest: Any) -> Case:
    headers = rest.pop("headers", {})
    return a_case(name, "PATCH", f"{SESSION}/state", happened, body, headers=headers, **rest)


def holding(path: str, step: str, **body: object) -> Send:
    """A step of what has been begun."""

    def send(scene: Scene) -> Answer:
        fence = {} if step == "reconcile" else {"fence": scene.fence}
        return scene.call("POST", f"{path}/{step}", {**fence, **body})

    return send


def held_case(path: str, step: str, happened: Count, name: str = "", **body: object) -> Case:
    """Of a tool call, or of a free claim, which moves no session's window."""
    of_call = path.startswith(SESSION)
    return Case(
        name=f"{step} {name or ('a call' if of_call else 'a claim')}",
        method="POST",
        path=f"{path}/{step}",
        send=holding(path, step, **body),
        happened=happened,
        moves=of_call,
    )
