"""Interleaved clients that append messages, add checkpoints and record tool calls, too."""

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

        answer = self.sent(send, loss=loss)
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

    @rule(session_id=sessions, namespace=st.sampled_from(["", "a", "a#"]), loss=LOSSES, named=st.booleans())
    def add_checkpoint(self, session_id: str, namespace: str, *, loss: Loss | None, named: bool) -> None:
        # Later than any before: the order of the ids is that of the calls.
        self.clock.pass_(0.001)
        body = {"namespace": namespace, "data": secrets.token_hex(4)}
        if named:
            body["checkpointId"] = self.stage.store.context.ids.message_id(self.clock.now_ms())
        key = None if named else secrets.token_hex(4)

        def send() -> Answer:
            return self.of(session_id, "POST", "/checkpoints", body, Idempotency_Key=key)

        answer = self.sent(send, loss=loss)
        model = self.model[session_id]
        if self.is_gone(session_id):
            assert answer.status == 404, answer
        elif not model.writable:
            assert answer.status == 409, answer
        else:
            assert answer.status in (200, 201), answer
            model.checkpoints.setdefault(namespace, []).append(body["data"])
            self.clock.pass_(0.001)
            again = send()
            assert (again.status, again.json) == (200 if named else 201, answer.json)

    @rule(session_id=sessions, namespace=st.sampled_from(["", "a", "a#"]))
    def read_checkpoints(self, session_id: str, namespace: str) -> None:
        path, subject = f"/sessions/{session_id}/checkpoints", self.subjects[self.model[session_id].client]
        query = {"namespace": namespace}
        listed = self.api.call("GET", path, query=query, subject=subject)
        newest = self.api.call("GET", f"{path}/latest", query=query, subject=subject)
        if self.is_gone(session_id):
            assert (listed.status, newest.status) == (404, 404)
            return
        there = self.model[session_id].checkpoints.get(namespace, [])
        assert [item["data"] for item in listed.json["items"]] == there[:20]
        assert newest.json["data"] == there[-1] if there else newest.slug == "not-found"

    @rule(session_id=sessions, name=st.sampled_from(["c1", "c2"]), loss=LOSSES)
    def record_call(self, session_id: str, name: str, *, loss: Loss | None) -> None:
        body = {"toolName": "t", "input": name, "output": 1, "durationMs": 1}

        def send() -> Answer:
            return self.of(session_id, "PUT", f"/tool-calls/{name}", body)

        answer = self.sent(send, loss=loss)
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
