"""Of every route the answer of each write is lost: it happens once, or nobody says that it did not."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pytest

from local.emulator import Emulator
from session_api.operations import OPERATIONS
from session_store.bootstrap import dynamodb_storage
from session_store.deadline import Deadline
from session_store.domain.claim import SETTLED
from session_store.domain.free_claim import free_key_hash
from session_store.domain.page import PageRequest
from session_store.domain.task import OPEN, TaskStatus
from session_store.domain.task_writes import TaskFilter
from session_store.domain.times import iso
from session_store.ports import Storage
from session_store.settings import Settings
from session_store.store import store_on
from tests.support.api import Answer, StoreApi
from tests.support.losses import Losses, losses_of
from tests.support.samples import a_call, a_settlement, an_event, settings
from tests.support.tables import create_tables
from tests.support.world import SettableClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

SESSION: Final = "/sessions/{sessionId}"
HELD_CALL: Final = "/sessions/{sessionId}/tool-calls/{toolCallId}"
CLAIM: Final = "/claims/{key}"
TASKS: Final = "/tasks"
TASK: Final = "/tasks/{taskId}"
BEGIN: Final = {"toolCallId": "c1", "toolName": "search", "input": {"q": 1}}
CALL: Final = {"toolName": "search", "input": {"q": 1}, "output": "found", "durationMs": 3}
SETTLED_TASKS: Final = sorted(set(TaskStatus) - OPEN)
NEW: Final = "new"
IDLE: Final = 20_000
SOON: Final = 4_000
"""Seconds that the sessions live which a drain is to find; it does not look as far as the others' ends."""

WINDOW_DUE: Final = 2_100
WITHOUT_WRITES: Final = {
    ("GET", "/health"),
    ("GET", "/sessions"),
    ("GET", "/claims/{key}"),
    ("GET", "/tasks"),
    ("GET", "/ops/expiring"),
    ("GET", "/ops/dlq"),
    ("POST", "/ops/dlq/redrive"),
}
"""Routes that write nothing into the tables; what a redrive does twice, its own tests show."""


@dataclass(kw_only=True)
class Scene:
    """A caller with one session, whose window is due to move."""

    api: StoreApi
    storage: Storage
    subject: str
    session_id: str
    ids: list[str]
    clock: SettableClock
    fence: int = 0
    """Of the call, the claim or the task that has been begun."""

    task_id: str = ""
    checkpoint_id: str = ""
    """Of one that is there."""

    def call(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        path = path.replace("{sessionId}", self.session_id).replace("{toolCallId}", "c1")
        path = path.replace("{key}", self.session_id).replace("{taskId}", self.task_id)
        path = path.replace("{checkpointId}", self.checkpoint_id)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.api.call(method, path, body, headers=named, subject=self.subject)

    @property
    def free_key(self) -> str:
        tenant = self.storage.sessions.read(self.session_id)
        assert tenant is not None
        return free_key_hash(tenant.owner, self.session_id)

    @property
    def queue(self) -> str:
        """Of this scene alone."""
        return self.subject

    def ask(self, kind: str, **body: object) -> None:
        """For a task or an approval, as another subject."""
        whole = {"queue": self.queue, "payload": 1, "kind": kind, **body}
        self.task_id = self.api.call("POST", TASKS, whole, subject="requester").json["taskId"]

    def tasks(self) -> list[Any]:
        """All there are in the queue, whatever has become of them."""
        now_ms = self.clock.now_ms()
        return [
            task
            for status in (None, *SETTLED_TASKS)
            for task in self.storage.tasks.page(
                self.session().owner.tenant,
                TaskFilter(queue=self.queue, status=status),
                now_ms=now_ms,
                page=PageRequest(limit=99),
            ).items
        ]

    def begin(self, path: str) -> None:
        """What the case goes on with."""
        if path.startswith(TASK):
            self.ask("approval" if path.endswith("/decide") else "task")
            (task,) = self.call("POST", f"{TASKS}/claim", taking(self)).json["items"] or [{"fence": 0}]
            self.fence = task["fence"]
            return
        claims = path.startswith("/claims")
        held = f"/claims/{self.session_id}" if claims else f"{SESSION}/tool-calls"
        begun = self.call("PUT" if claims else "POST", held, {"input": 1} if claims else BEGIN)
        assert begun.status == 201, begun
        self.fence = begun.json["fence"]

    def session(self) -> Any:
        session = self.storage.sessions.read(self.session_id)
        assert session is not None
        return session

    def owned(self) -> int:
        return len(self.call("GET", "/sessions").json["items"])


Send = Callable[[Scene], Answer]
Count = Callable[[Scene], float]


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


def state(scene: Scene) -> float:
    return float(scene.session().state["n"])


def listed(scene: Scene) -> float:
    return len(scene.session().state.get("l", []))


def kept(scene: Scene) -> float:
    return float(scene.session().state.get("s", 0))


def versions(scene: Scene) -> float:
    return float(scene.session().version - 1)


def new_sessions(scene: Scene) -> float:
    return scene.owned() - 1


def deletions(scene: Scene) -> float:
    trail = scene.storage.audit.page(scene.session_id, PageRequest(limit=9))
    gone = scene.storage.sessions.read(scene.session_id) is None
    assert gone == bool(trail.items)
    return len(trail.items)


def messages(scene: Scene) -> float:
    page = scene.storage.messages.page(scene.session_id, PageRequest(limit=99))
    contents = [message.content for message in page.items]
    return max((contents.count(content) for content in {*contents}), default=0)


def checkpoints(scene: Scene) -> float:
    page = scene.storage.checkpoints.page(scene.session_id, "", PageRequest(limit=99))
    return len([checkpoint for checkpoint in page.items if checkpoint.data == NEW])


def records(scene: Scene) -> float:
    return len(scene.storage.tool_calls.page(scene.session_id, PageRequest(limit=9)).items)


def begun_call(scene: Scene) -> float:
    return len(scene.storage.tool_calls.unsettled(scene.session_id))


def completions(scene: Scene) -> float:
    """Of the call and of all that changes with it: once, or not at all."""
    changes = [records(scene), messages(scene), state(scene)]
    assert len(set(changes)) == 1, changes
    return changes[0]


def taking(scene: Scene) -> dict[str, Any]:
    return {"queue": scene.queue, "leaseSeconds": 60, "max": 1}


def new_tasks(scene: Scene) -> float:
    return len(scene.tasks())


def tasks_of(*statuses: TaskStatus) -> Count:
    return lambda scene: [task.status for task in scene.tasks()].count(*statuses)


def task_renewed(scene: Scene) -> float:
    return float(scene.tasks()[0].lease_until_ms > scene.clock.now_ms() + 100_000)


def given_back(scene: Scene) -> float:
    (task,) = scene.tasks()
    return float(task.error == "broken" and task.status is TaskStatus.PENDING)


def followed(scene: Scene) -> float:
    """The end of the task and what follows it: both, or neither."""
    tasks = scene.tasks()
    ended = [task.status for task in tasks].count(TaskStatus.COMPLETED)
    assert len(tasks) == 1 + ended
    return ended


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


def renewed(scene: Scene) -> float:
    return float(claim_of(scene).lease_until_ms > scene.clock.now_ms() + 100_000)


def ended(scene: Scene) -> float:
    return float(claim_of(scene).status in SETTLED)


def freed(scene: Scene) -> float:
    return float(claim_of(scene).retry_safe)


def claim_of(scene: Scene) -> Any:
    """The call's claim, or the free one."""
    claim = scene.storage.tool_calls.sight(scene.session_id, "c1").claim
    return claim or scene.storage.claims.read(scene.free_key)


def begun_claim(scene: Scene) -> float:
    return float(scene.storage.claims.read(scene.free_key) is not None)


def moved(scene: Scene) -> float:
    return float(scene.session().ttl > scene.session().created_at // 1000 + IDLE)


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


LONG: Final = {"idleTimeout": IDLE}
KEY: Final = {"Idempotency_Key": "k"}
FIRST: Final = {"If_Match": '"1"'}
INCREMENT: Final = {"increment": {"n": 1}}
APPEND: Final = {"append": {"l": [1]}}
CASES: Final = [
    a_case("create", "POST", "/sessions", new_sessions, LONG, again=False, moves=False),
    a_case("create with a key", "POST", "/sessions", new_sessions, LONG, headers=KEY, moves=False),
    a_case("replace", "PUT", f"{SESSION}/state", versions, {"s": 1}, headers=FIRST),
    patch_case("set", kept, {"set": {"s": 1}}),
    patch_case("set with a key", versions, {"set": {"s": 1}}, headers=KEY),
    patch_case("set at a version", versions, {"set": {"s": 1}}, headers=FIRST),
    patch_case("increment", state, INCREMENT, again=False),
    patch_case("increment with a key", state, INCREMENT, headers=KEY),
    patch_case("increment at a version", state, INCREMENT, headers=FIRST),
    patch_case("increment at a version with a key", state, INCREMENT, headers={**KEY, **FIRST}),
    patch_case("append", listed, APPEND, again=False),
    patch_case("append with a key", listed, APPEND, headers=KEY),
    a_case("move", "POST", f"{SESSION}/status", versions, {"to": "active"}),
    a_case("touch", "POST", f"{SESSION}/touch", moved),
    a_case("delete", "DELETE", SESSION, deletions, moves=False),
    a_case("drain", "POST", "/ops/drain", versions, {"withinSeconds": SOON}, moves=False),
    *(
        a_case(
            f"append {count} messages{' with ids' * named}{' atomically' * atomic}",
            "POST",
            f"{SESSION}/context",
            messages,
            send=appending(count=count, named=named, atomic=atomic),
            again=named,
        )
        for count in (1, 3)
        for named in (False, True)
        for atomic in (False, True)
    ),
    *(
        a_case(
            f"add a checkpoint{' with an id' * named}{' with a key' * bool(key)}{' and a parent' * parent}",
            "POST",
            f"{SESSION}/checkpoints",
            checkpoints,
            send=adding(named=named, parent=parent, **key),
            again=named or bool(key),
        )
        for named in (False, True)
        for key in ({}, KEY)
        for parent in (False, True)
    ),
    a_case("read a checkpoint", "GET", f"{SESSION}/checkpoints/{{checkpointId}}", moved),
    a_case("record", "PUT", f"{SESSION}/tool-calls/{{toolCallId}}", records, CALL),
    a_case("begin", "POST", f"{SESSION}/tool-calls", begun_call, {**BEGIN, "attemptId": "a"}),
    held_case(HELD_CALL, "complete", records, output="found"),
    held_case(
        HELD_CALL,
        "complete",
        completions,
        "with its session",
        output="found",
        state={"increment": {"n": 1}},
        messages=[{"content": "of the call"}],
        status={"to": "closing"},
    ),
    held_case(HELD_CALL, "fail", records, error="broken"),
    held_case(HELD_CALL, "heartbeat", renewed, leaseSeconds=200),
    held_case(HELD_CALL, "reconcile", records, outcome="completed", output=1),
    held_case(HELD_CALL, "reconcile", freed, "to try again", outcome="retry"),
    a_case("claim a key", "PUT", CLAIM, begun_claim, {"input": 1, "attemptId": "a"}, moves=False),
    held_case(CLAIM, "complete", ended, output="found"),
    held_case(CLAIM, "fail", ended, error="broken"),
    held_case(CLAIM, "heartbeat", renewed, leaseSeconds=200),
    held_case(CLAIM, "reconcile", ended, outcome="failed", error=1),
    a_case("create a task", "POST", TASKS, new_tasks, send=creating(), again=False, moves=False),
    a_case("create a task with a key", "POST", TASKS, new_tasks, send=creating(headers=KEY), moves=False),
    a_case(
        "create a task of a session with a key",
        "POST",
        TASKS,
        new_tasks,
        send=creating(headers=KEY, sessionId=""),
    ),
    a_case(
        "claim a task",
        "POST",
        f"{TASKS}/claim",
        tasks_of(TaskStatus.CLAIMED),
        send=lambda scene: scene.call("POST", f"{TASKS}/claim", taking(scene)),
        moves=False,
    ),
    task_case("heartbeat", task_renewed, leaseSeconds=200),
    task_case("complete", tasks_of(TaskStatus.COMPLETED), result=1),
    task_case("complete", followed, "a task with another", result=1, next=True),
    task_case("fail", given_back, error="broken"),
    task_case("cancel", tasks_of(TaskStatus.CANCELLED)),
    task_case("decide", tasks_of(TaskStatus.APPROVED), decision="approved"),
    a_case("recovery", "GET", f"{SESSION}/recovery", moved),
    a_case("read a call", "GET", f"{SESSION}/tool-calls/{{toolCallId}}", moved),
    *(
        a_case(f"read {part}", "GET", f"{SESSION}{part}", moved)
        for part in (
            "",
            "/context",
            "/checkpoints",
            "/checkpoints/latest",
            "/tool-calls",
            "/history",
            "/audit",
        )
    ),
]


@pytest.fixture(scope="module")
def own_tables(emulator: Emulator) -> Settings:
    """Of this module alone: a drain goes over everybody's sessions."""
    name = secrets.token_hex(4)
    named = settings(table=f"lost-{name}", audit_table=f"lost-audit-{name}")
    create_tables(emulator.client("dynamodb"), table=named.table, audit_table=named.audit_table)
    return named


@pytest.fixture
def losses(dynamodb: "DynamoDBClient") -> Losses:
    return losses_of(dynamodb, Deadline())


@pytest.fixture
def scenes(dynamodb: "DynamoDBClient", own_tables: Settings, losses: Losses) -> Callable[[Case], Scene]:
    clock = SettableClock()
    storage = dynamodb_storage(own_tables, dynamodb, losses.deadline)
    store = store_on(storage, own_tables, clock=clock, deadline=losses.deadline)
    api = StoreApi(store)

    def scene(case: Case) -> Scene:
        subject = f"user-{secrets.token_hex(8)}"
        idle = SOON if case.path == "/ops/drain" else IDLE
        made = api.call("POST", "/sessions", {"state": {"n": 0}, "idleTimeout": idle}, subject=subject)
        session_id = made.json["sessionId"]
        parent = api.call("POST", f"/sessions/{session_id}/checkpoints", {"data": "before"}, subject=subject)
        clock.pass_(WINDOW_DUE)
        now = clock.now_ms()
        ids = [store.context.ids.message_id(now) for _ in range(3)]
        return Scene(
            api=api,
            storage=storage,
            subject=subject,
            session_id=made.json["sessionId"],
            ids=ids,
            clock=clock,
            checkpoint_id=parent.json["checkpointId"],
        )

    return scene


def test_every_route_that_writes_has_a_case() -> None:
    routes = {(operation.method, operation.path) for operation in OPERATIONS}
    assert {(case.method, case.path) for case in CASES} == routes - WITHOUT_WRITES


@pytest.mark.parametrize("and_the_time", [False, True], ids=["resent by the store", "resent by the caller"])
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_a_lost_answer_never_acts_twice_and_never_is_a_lie(
    scenes: Callable[[Case], Scene], losses: Losses, case: Case, *, and_the_time: bool
) -> None:
    writes, usual = undisturbed(scenes, losses, case)
    for number in range(writes):
        scene = prepared(scenes, case)
        losses.lose(number, and_the_time=and_the_time)
        answer = case.send(scene)
        assert losses.lost == 1, number
        losses.lose(None)
        if answer.status == 503:
            assert (answer.slug, and_the_time) == ("outcome-unknown", True), number
            assert case.happened(scene) <= 1, number
            if not case.again:
                continue
            answer = case.send(scene)
            assert answer.status in {usual, 200, 404, 412}, answer
        else:
            assert answer.status == usual, answer
        assert case.happened(scene) == 1, number


def undisturbed(scenes: Callable[[Case], Scene], losses: Losses, case: Case) -> tuple[int, int]:
    """How many writes it takes, and what is answered."""
    scene = prepared(scenes, case)
    assert case.happened(scene) == 0
    losses.lose(None)
    answer = case.send(scene)
    writes = len(losses.done)
    assert answer.status < 300, answer
    assert case.happened(scene) == 1
    assert writes >= (2 if case.moves and case.happened is not moved else 1)
    return writes, answer.status


def prepared(scenes: Callable[[Case], Scene], case: Case) -> Scene:
    scene = scenes(case)
    if case.path == f"{TASKS}/claim":
        scene.ask("task")
    elif case.path == TASK:
        scene.ask("approval", deadline=iso(scene.clock.now_ms()))
    elif case.path.startswith(TASK):
        scene.begin(case.path)
    if case.path.startswith((f"{HELD_CALL}/", f"{CLAIM}/")):
        scene.begin(case.path)
        scene.clock.pass_(WINDOW_DUE)
    if case.name == "read a call":
        session = scene.session()
        scene.storage.tool_calls.settle(a_settlement(*a_call(session, "c1"), an_event(session)))
    return scene
