"""Interleaved clients that append messages and record tool calls, too."""

import secrets

from hypothesis import strategies as st
from hypothesis.stateful import rule

from tests.support.api import Answer
from tests.support.interleavings import LOSSES, SessionInterleavings
from tests.support.weather import Loss


class Interleavings(SessionInterleavings):
    sessions = SessionInterleavings.sessions

    @rule(
        session_id=sessions,
        count=st.integers(1, 3),
        loss=LOSSES,
        atomic=st.booleans(),
    )
    def append_messages(self, session_id: str, count: int, *, loss: Loss | None, atomic: bool) -> None:
        ids = [self.stage.store.context.ids.message_id(self.clock.now_ms()) for _ in range(count)]
        messages = [(each, secrets.token_hex(4)) for each in ids]
        body = {"messages": [{"messageId": i, "content": c} for i, c in messages], "atomic": atomic}

        def send() -> Answer:
            return self.of(session_id, "POST", "/context", body)

        answer, was_lost = self.lossy(send, loss=loss)
        if answer.status == 503:
            assert was_lost
            answer = send()
        model = self.model[session_id]
        if self.is_gone(session_id):
            assert answer.status == 404, answer
        elif not model.writable:
            assert answer.status == 409, answer
        else:
            assert answer.status in (200, 201), answer
            model.messages += messages
            # Another request, later: at the very same moment it would be taken for this one sent again.
            self.clock.pass_(0.001)
            assert send().status == 200

    @rule(session_id=sessions, name=st.sampled_from(["c1", "c2"]), loss=LOSSES)
    def record_call(self, session_id: str, name: str, *, loss: Loss | None) -> None:
        body = {"toolName": "t", "input": name, "output": 1, "durationMs": 1}

        def send() -> Answer:
            return self.of(session_id, "PUT", f"/tool-calls/{name}", body)

        answer, was_lost = self.lossy(send, loss=loss)
        if answer.status == 503:
            assert was_lost
            answer = send()
        model = self.model[session_id]
        if name in model.calls:
            assert answer.status == 200, answer
        elif self.is_gone(session_id):
            assert answer.status == 404, answer
        elif not model.writable:
            assert answer.status == 409, answer
        else:
            assert answer.status in (200, 201), answer
            model.calls.add(name)

    @rule(session_id=sessions)
    def read_children(self, session_id: str) -> None:
        model = self.model[session_id]
        context = self.of(session_id, "GET", "/context")
        calls = self.of(session_id, "GET", "/tool-calls")
        if self.is_gone(session_id):
            assert (context.status, calls.status) == (404, 404)
            return
        found = [(item["messageId"], item["content"]) for item in context.json["items"]]
        assert found == sorted(model.messages)[: len(found)]
        assert len(found) == min(20, len(model.messages))
        assert {item["toolCallId"] for item in calls.json["items"]} == model.calls
        assert len(calls.json["items"]) == len(model.calls)
        self.is_as_modelled(session_id, self.of(session_id, "GET", ""))
