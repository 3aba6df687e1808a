"""Several clients on a few sessions, in any order, with answers lost: what holds at every step.

A model says what each session has to be. An answer that was lost leaves two
possibilities: the call is sent again under its key, or the session is read and must
be one of them.
"""

import secrets
from collections.abc import Callable
from typing import Any, ClassVar, Final

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from tests.support.api import Answer, StoreApi
from tests.support.session_model import CHANGES, NEXT, VALUES, Keyed, Modelled
from tests.support.weather import Loss, Stage

CLIENTS: Final = 2
IDLE: Final = 1_000
NEAR: Final = st.sampled_from([None, 0, -1])
"""How far off the version is that a client expects; None: it expects none."""


LOSSES: Final = st.sampled_from([None, *Loss])


class SessionInterleavings(RuleBasedStateMachine):
    """Over whatever ``opened`` opens."""

    opened: ClassVar[Callable[[], Stage]]

    sessions = Bundle("sessions")
    keyed = Bundle("keyed")

    @initialize()
    def begin(self) -> None:
        self.stage = type(self).opened()
        self.api = StoreApi(self.stage.store)
        self.clock, self.weather = self.stage.clock, self.stage.weather
        self.subjects = [f"user-{secrets.token_hex(8)}" for _ in range(CLIENTS)]
        self.model: dict[str, Modelled] = {}
        self.ends: dict[str, int] = {}

    def call(self, client: int, method: str, path: str, body: object = None, **headers: Any) -> Answer:
        named = {name.replace("_", "-"): str(value) for name, value in headers.items() if value is not None}
        return self.api.call(method, path, body, headers=named, subject=self.subjects[client])

    def of(self, session_id: str, method: str, path: str, body: object = None, **headers: Any) -> Answer:
        client = self.model[session_id].client
        return self.call(client, method, f"/sessions/{session_id}{path}", body, **headers)

    def lossy(self, send: Callable[[], Answer], *, loss: Loss | None) -> tuple[Answer, bool]:
        """The answer, and whether one was lost on the way."""
        if loss is not None:
            self.weather.lose(loss)
        answer = send()
        return answer, self.weather.clear()

    def sent(self, send: Callable[[], Answer], *, loss: Loss | None) -> Answer:
        """What is answered in the end: who hears that nobody knows sends the same again."""
        answer, was_lost = self.lossy(send, loss=loss)
        if answer.status != 503:
            return answer
        assert was_lost
        return send()

    @rule(target=sessions, client=st.integers(0, CLIENTS - 1), loss=LOSSES)
    def create(self, client: int, *, loss: Loss | None) -> str:
        key = secrets.token_hex(8)
        body = {"idleTimeout": IDLE, "state": {"n": 0}}

        def send() -> Answer:
            return self.call(client, "POST", "/sessions", body, Idempotency_Key=key)

        answer, was_lost = self.lossy(send, loss=loss)
        if answer.status == 503:
            assert was_lost
            answer = send()
            assert answer.headers["Idempotent-Replayed"] == "true"
        assert answer.status == 201, answer
        session_id: str = answer.json["sessionId"]
        assert session_id not in self.model
        self.model[session_id] = Modelled(client=client, state={"n": 0})
        self.ends[session_id] = answer.json["ttl"]
        assert send().json == answer.json
        return session_id

    @rule(
        target=keyed,
        session_id=sessions,
        body=CHANGES,
        loss=LOSSES,
        at=NEAR,
    )
    def change_with_a_key(
        self, session_id: str, body: dict[str, Any], *, loss: Loss | None, at: int | None
    ) -> Keyed:
        key = secrets.token_hex(8)
        version = None if at is None else self.model[session_id].version + at

        def send() -> Answer:
            match = None if version is None else f'"{version}"'
            return self.of(session_id, "PATCH", "/state", body, Idempotency_Key=key, If_Match=match)

        answer, was_lost = self.lossy(send, loss=loss)
        if answer.status == 503:
            assert was_lost
            answer = send()
            assert answer.status != 200 or answer.headers["Idempotent-Replayed"] == "true"
        self.judge(session_id, answer, body, version)
        return Keyed(session_id, key if version is None else "", body)

    @rule(earlier=keyed)
    def change_again(self, earlier: Keyed) -> None:
        """What went through is not done again; what was refused may go through now."""
        if not earlier.key:
            return
        answer = self.of(earlier.session_id, "PATCH", "/state", earlier.body, Idempotency_Key=earlier.key)
        if answer.status == 200 and answer.headers.get("Idempotent-Replayed") == "true":
            self.is_as_modelled(earlier.session_id, answer)
        else:
            self.judge(earlier.session_id, answer, earlier.body, None)
        if answer.status == 200:
            other = {"set": {"c": secrets.token_hex(4)}}
            refused = self.of(earlier.session_id, "PATCH", "/state", other, Idempotency_Key=earlier.key)
            assert refused.status == 422, refused

    @rule(session_id=sessions, body=CHANGES, loss=LOSSES, at=NEAR)
    def change(self, session_id: str, body: dict[str, Any], *, loss: Loss | None, at: int | None) -> None:
        version = None if at is None else self.model[session_id].version + at
        match = None if version is None else f'"{version}"'
        answer, was_lost = self.lossy(
            lambda: self.of(session_id, "PATCH", "/state", body, If_Match=match), loss=loss
        )
        self.judge(session_id, answer, body, version, was_lost=was_lost)

    @rule(
        session_id=sessions,
        value=VALUES,
        loss=LOSSES,
        at=st.sampled_from([0, -1, 1]),
    )
    def replace(self, session_id: str, value: Any, *, loss: Loss | None, at: int) -> None:
        version = self.model[session_id].version + at
        body = {"n": 0, "a": value}
        answer, was_lost = self.lossy(
            lambda: self.of(session_id, "PUT", "/state", body, If_Match=f'"{version}"'), loss=loss
        )
        gone = {"remove": [key for key in self.model[session_id].state if key not in body]}
        self.judge(session_id, answer, {"set": body, **gone}, version, was_lost=was_lost)

    def judge(
        self,
        session_id: str,
        answer: Answer,
        body: dict[str, Any],
        version: int | None,
        *,
        was_lost: bool = False,
    ) -> None:
        """The answer to a change is the one that the model gives, and the model goes along."""
        model = self.model[session_id]
        if answer.status == 503:
            assert was_lost
            assert answer.slug == "outcome-unknown"
            self.read_then_decide(session_id, model.changed(body))
        elif self.is_gone(session_id):
            assert answer.status == 404, answer
        elif not model.writable:
            assert answer.status == 409, answer
        elif version not in (None, model.version):
            assert (answer.status, answer.json["currentVersion"]) == (412, model.version), answer
        elif any(not isinstance(model.state.get(key, []), list) for key in body.get("append", {})):
            assert answer.status == 400, answer
        else:
            assert answer.status == 200, answer
            self.model[session_id] = model.changed(body)
            self.is_as_modelled(session_id, answer)

    def read_then_decide(self, session_id: str, done: Modelled) -> None:
        """Nobody knows: the session is as it was or as it would be, and nothing else."""
        if self.is_gone(session_id):
            return
        found = self.of(session_id, "GET", "").json
        if found["version"] == done.version:
            self.model[session_id] = done

    def is_as_modelled(self, session_id: str, answer: Answer) -> None:
        model = self.model[session_id]
        found = answer.json
        assert (found["version"], found["state"], found["status"]) == (
            model.version,
            model.state,
            model.status,
        )
        assert found["version"] >= model.seen
        model.seen = found["version"]
        self.ends[session_id] = found["ttl"]

    def is_gone(self, session_id: str) -> bool:
        return self.model[session_id].gone or self.ends[session_id] <= self.clock.now_ms() // 1000

    @rule(session_id=sessions, to=st.sampled_from(sorted(NEXT)), loss=LOSSES)
    def move(self, session_id: str, to: str, *, loss: Loss | None) -> None:
        def send() -> Answer:
            return self.of(session_id, "POST", "/status", {"to": to})

        answer = self.sent(send, loss=loss)
        model = self.model[session_id]
        if self.is_gone(session_id):
            assert answer.status == 404, answer
        elif model.status != to and model.status not in NEXT[to]:
            assert answer.status == 409, answer
        else:
            assert answer.status == 200, answer
            model.version += model.status != to
            model.status = to
            self.is_as_modelled(session_id, answer)

    @rule(session_id=sessions, loss=LOSSES)
    def touch(self, session_id: str, *, loss: Loss | None) -> None:
        answer = self.sent(lambda: self.of(session_id, "POST", "/touch"), loss=loss)
        if self.is_gone(session_id):
            assert answer.status == 404, answer
        elif self.model[session_id].status == "closed":
            assert answer.status == 409, answer
        else:
            assert answer.status == 200, answer
            self.is_as_modelled(session_id, answer)

    @rule(session_id=sessions, loss=LOSSES)
    def delete(self, session_id: str, *, loss: Loss | None) -> None:
        answer, was_lost = self.lossy(lambda: self.of(session_id, "DELETE", ""), loss=loss)
        if answer.status == 503:
            assert was_lost
            answer = self.of(session_id, "DELETE", "")
            assert answer.status == 404
        else:
            assert answer.status == (404 if self.is_gone(session_id) else 204), answer
        model = self.model[session_id]
        model.gone = model.gone or not self.is_gone(session_id)

    @rule(seconds=st.sampled_from([1, 90, 110, IDLE - 1, IDLE]))
    def time_passes(self, seconds: int) -> None:
        self.clock.pass_(seconds)

    @rule(session_id=sessions)
    def a_stranger_finds_nothing(self, session_id: str) -> None:
        other = (self.model[session_id].client + 1) % CLIENTS
        for method, body in (("GET", None), ("DELETE", None)):
            assert self.call(other, method, f"/sessions/{session_id}", body).status == 404

    @rule(client=st.integers(0, CLIENTS - 1))
    def list_sessions(self, client: int) -> None:
        answer = self.api.call("GET", "/sessions", query={"limit": "100"}, subject=self.subjects[client])
        listed = [item["sessionId"] for item in answer.json["items"]]
        there = [
            each for each, model in self.model.items() if model.client == client and not self.is_gone(each)
        ]
        assert sorted(listed) == sorted(there)

    @invariant()
    def every_session_is_as_modelled(self) -> None:
        for session_id in self.model:
            self.is_kept_as_modelled(session_id)

    def is_kept_as_modelled(self, session_id: str) -> None:
        """Seen past the API, so that looking moves no window."""
        kept = self.stage.storage.sessions.read(session_id)
        if self.model[session_id].gone:
            assert kept is None
            return
        assert kept is not None
        self.ends[session_id] = kept.ttl
        model = self.model[session_id]
        assert (kept.version, kept.state, kept.status) == (model.version, model.state, model.status)
