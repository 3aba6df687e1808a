"""The clean-up after a session has ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from session_store.deadline import Deadline
from session_store.domain.page import PageRequest
from session_store.domain.session import Author
from session_store.domain.session_end import EndReason
from session_store.errors import (
    InvalidRequestError,
    SessionStillThereError,
    UnavailableError,
    UndeliveredError,
    UnfinishedError,
)
from session_store.ports import Storage
from session_store.schema import session_pk
from session_store.services.cleanup import PAGE
from session_store.services.principals import EXPIRY_CLEANUP
from session_store.storage.memory.storage import memory_storage
from session_store.storage.memory.surroundings import MemoryPayloads
from tests.support.ended import RETENTION, Surroundings, an_end, left_behind, messages_of, summaries
from tests.support.samples import NOW_MS, NOW_SECONDS, OWNER, REGION, a_message, a_session, an_event


@pytest.fixture
def storage() -> Storage:
    return memory_storage()


@pytest.fixture
def around() -> Surroundings:
    return Surroundings()


def test_everything_of_a_session_is_erased_and_its_end_announced(
    storage: Storage, around: Surroundings
) -> None:
    session = left_behind(storage, messages=3, calls=2, checkpoints=2)
    other = left_behind(storage, messages=1)
    for key in (f"{session.session_id}/a", f"{session.session_id}/b", f"{other.session_id}/a"):
        around.payloads.put(key, b"x")
    end = an_end(session)
    assert around.cleanup(storage).run(end, request_id="r").children == 9
    assert storage.children.first(session.session_id, limit=10) == []
    assert len(messages_of(storage, other)) == 1
    assert set(around.payloads.texts) == {f"{other.session_id}/a"}
    facts = {
        "reason": "expired",
        "status": "active",
        "createdAt": "2027-01-15T08:00:00.500Z",
        "endedAt": "2027-01-15T09:00:00.500Z",
        "childrenDeleted": 9,
        "credentialsRevoked": [],
        "credentialsFailed": [],
    }
    (summary,) = summaries(storage, session)
    assert (summary.kind, summary.at, summary.actor, summary.region) == (
        "event",
        end.ended_at + 499,
        EXPIRY_CLEANUP,
        REGION,
    )
    assert summary.ttl == end.ended_at // 1000 + RETENTION
    assert summary.facts == facts
    (notice,) = around.bus.notices
    assert notice.name == "SessionEnded"
    assert notice.detail == {
        "eventId": notice.event_id,
        "sessionId": session.session_id,
        "tenant": OWNER.tenant,
        "subject": OWNER.subject,
        "region": REGION,
        **facts,
    }


def test_a_session_without_children_ends_too(storage: Storage, around: Surroundings) -> None:
    session = a_session()
    assert (
        around.cleanup(storage).run(an_end(session, reason=EndReason.DELETED), request_id="r").children == 0
    )
    assert [each.facts["reason"] for each in summaries(storage, session)] == ["deleted"]


def test_the_summary_stands_behind_the_deletion_in_the_same_second(
    storage: Storage, around: Surroundings
) -> None:
    session = a_session()
    storage.audit.put_event(an_event(session))
    end = an_end(session, reason=EndReason.DELETED, ended_at=NOW_SECONDS * 1000)
    for _ in range(2):
        around.cleanup(storage).run(end, request_id="r")
    trail = storage.audit.page(session_pk(session.session_id), PageRequest(limit=10)).items
    assert [entry.event_name for entry in trail] == ["SessionDeleted", "SessionEnded"]


def test_a_message_delivered_again_changes_nothing_and_is_announced_under_the_same_id(
    storage: Storage, around: Surroundings
) -> None:
    session = left_behind(storage, messages=3)
    for request_id in ("first", "second"):
        assert around.cleanup(storage).run(an_end(session), request_id=request_id).children == 3
    assert len(summaries(storage, session)) == 1
    first, again = around.bus.notices
    assert first == again


def test_what_was_said_first_stands(storage: Storage, around: Surroundings) -> None:
    session = a_session(credential_refs=("late",))
    end = an_end(session)
    around.cleanup(storage).run(end, request_id="r")
    around.keep_secret(end, "late", token="t")
    around.cleanup(storage).run(end, request_id="r")
    first, again = around.bus.notices
    assert first == again
    assert first.detail["credentialsFailed"] == [{"reference": "late", "reason": "no such secret"}]


@pytest.mark.parametrize("ttl", [NOW_SECONDS + 3600, NOW_SECONDS - 1])
def test_a_session_that_is_still_there_is_left_alone(
    storage: Storage, around: Surroundings, ttl: int
) -> None:
    session = a_session(ttl=ttl, credential_refs=("ref",))
    storage.sessions.create(session)
    storage.messages.put(a_message(session))
    around.keep_secret(an_end(session), "ref", token="t")
    with pytest.raises(SessionStillThereError):
        around.cleanup(storage).run(an_end(session), request_id="r")
    assert len(messages_of(storage, session)) == 1
    assert summaries(storage, session) == []
    assert (around.revoker.revoked, around.bus.notices) == ([], [])


@pytest.mark.parametrize("session_id", ["", "/", "use1-", "..", "use1-" + "A" * 32])
def test_what_is_no_session_id_erases_nothing(
    storage: Storage, around: Surroundings, session_id: str
) -> None:
    around.payloads.put("/a", b"x")
    with pytest.raises(InvalidRequestError):
        around.cleanup(storage).run(an_end(a_session(), session_id=session_id), request_id="r")
    assert set(around.payloads.texts) == {"/a"}


def test_credentials_are_revoked_and_what_cannot_be_is_said(storage: Storage, around: Surroundings) -> None:
    end = an_end(a_session(credential_refs=("ok", "gone", "bad", "not ok", "refused")))
    around.keep_secret(end, "ok", token="token-ok", tokenTypeHint="refresh_token")
    around.keep_secret(end, "bad", password="x")
    around.keep_secret(end, "refused", token="token-refused")
    around.revoker.refused["token-refused"] = "HTTP 400 unsupported_token_type"
    around.cleanup(storage).run(end, request_id="r")
    assert [(each.token, each.token_type_hint) for each in around.revoker.revoked] == [
        ("token-ok", "refresh_token")
    ]
    (notice,) = around.bus.notices
    assert notice.detail["credentialsRevoked"] == ["ok"]
    assert {each["reference"]: each["reason"] for each in notice.detail["credentialsFailed"]} == {
        "gone": "no such secret",
        "bad": 'the secret is not of the form {"token": ..., "tokenTypeHint"?: ...}',
        "not ok": "malformed reference",
        "refused": "HTTP 400 unsupported_token_type",
    }
    assert "token-" not in str(notice)


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", '"t"', "{", '{"token": ""}', '{"token": 1}', '{"token": "t", "tokenTypeHint": 1}'],
)
def test_a_secret_of_another_form_is_reported(storage: Storage, around: Surroundings, text: str) -> None:
    end = an_end(a_session(credential_refs=("ref",)))
    around.keep_secret(end, "ref")
    around.secrets.texts.update(dict.fromkeys(around.secrets.texts, text))
    around.cleanup(storage).run(end, request_id="r")
    (failed,) = around.bus.notices[0].detail["credentialsFailed"]
    assert failed["reason"].startswith("the secret is not of the form")
    assert around.revoker.revoked == []


def test_a_secret_of_another_tenant_is_out_of_reach(storage: Storage, around: Surroundings) -> None:
    end = an_end(a_session(credential_refs=("ref",)))
    around.keep_secret(replace(end, owner=replace(end.owner, tenant="another")), "ref", token="t")
    around.cleanup(storage).run(end, request_id="r")
    assert around.revoker.revoked == []


def test_without_an_endpoint_what_a_session_names_is_reported(storage: Storage, around: Surroundings) -> None:
    cleanup = around.cleanup(storage)
    cleanup = replace(cleanup, revocations=replace(cleanup.revocations, revoker=None), payloads=None)
    cleanup.run(an_end(a_session(credential_refs=("ref",))), request_id="r")
    (failed,) = around.bus.notices[0].detail["credentialsFailed"]
    assert failed == {"reference": "ref", "reason": "no revocation endpoint is configured"}


@dataclass(frozen=True)
class Away:
    """An authorization server that does not answer for one token."""

    token: str
    tried: list[str]

    def revoke(self, credential: Any) -> str | None:
        self.tried.append(credential.token)
        if credential.token == self.token:
            raise UnavailableError("away")
        return None


def test_a_server_that_is_away_keeps_nothing_else_from_being_done(
    storage: Storage, around: Surroundings
) -> None:
    session = left_behind(storage, messages=2)
    end = an_end(session, credential_refs=("a", "b"))
    around.keep_secret(end, "a", token="token-a")
    around.keep_secret(end, "b", token="token-b")
    tried: list[str] = []
    cleanup = around.cleanup(storage)
    away = replace(cleanup, revocations=replace(cleanup.revocations, revoker=Away("token-a", tried)))
    with pytest.raises(UnavailableError):
        away.run(end, request_id="r")
    assert tried == ["token-a", "token-b"]
    assert messages_of(storage, session) == ()
    assert summaries(storage, session) == []
    assert around.bus.notices == []
    assert cleanup.run(end, request_id="r").children == 2
    assert around.bus.notices[0].detail["credentialsRevoked"] == ["a", "b"]


@dataclass(frozen=True)
class DeafBus:
    def emit(self, _: Sequence[Any]) -> None:
        raise UndeliveredError("1 of 1 events")


def test_an_end_that_could_not_be_announced_is_announced_by_the_next_delivery(
    storage: Storage, around: Surroundings
) -> None:
    session = left_behind(storage, messages=2)
    cleanup = around.cleanup(storage)
    with pytest.raises(UndeliveredError):
        replace(cleanup, bus=DeafBus()).run(an_end(session), request_id="r")
    cleanup.run(an_end(session), request_id="r")
    assert len(summaries(storage, session)) == 1
    assert [notice.detail["childrenDeleted"] for notice in around.bus.notices] == [2]


def test_time_that_is_up_stops_the_work_and_the_next_delivery_goes_on(
    storage: Storage, around: Surroundings
) -> None:
    session = left_behind(storage, messages=2 * PAGE + 1)
    now = [0.0]
    around.deadline = Deadline(monotonic=lambda: now[0])
    around.deadline.expires_in(60)
    cleanup = around.cleanup(storage)
    erase = storage.children.erase

    class Slow:
        def erase(self, session_id: str, sks: Sequence[str]) -> None:
            now[0] += 45
            erase(session_id, sks)

        def __getattr__(self, name: str) -> Any:
            return getattr(storage.children, name)

    slow: Any = Slow()
    with pytest.raises(UnfinishedError):
        replace(cleanup, children=slow).run(an_end(session), request_id="r")
    assert len(storage.children.first(session.session_id, limit=5000)) == PAGE + 1
    assert summaries(storage, session) == []
    around.deadline.expires_in(60)
    assert cleanup.run(an_end(session), request_id="r").children == 2 * PAGE + 1
    assert summaries(storage, session)[0].facts["childrenDeleted"] == 2 * PAGE + 1


def test_payloads_are_erased_page_by_page(storage: Storage, around: Surroundings) -> None:
    session = a_session()
    around.payloads = MemoryPayloads(texts=around.payloads.texts, page=2)
    for number in range(5):
        around.payloads.put(f"{session.session_id}/{number}", b"x")
    around.cleanup(storage).run(an_end(session), request_id="r")
    assert around.payloads.texts == {}


def test_the_summary_names_the_request_that_wrote_it(around: Surroundings) -> None:
    storage = memory_storage()
    memory: Any = storage.audit
    around.cleanup(storage).run(an_end(a_session()), request_id="request-9")
    (event,) = memory.memory.events
    assert event.author == Author(principal=EXPIRY_CLEANUP, request_id="request-9")
    assert event.at == NOW_MS + 3_600_000 + 499
