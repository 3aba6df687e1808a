"""What both clients send and read, and which secrets they never show."""

import logging
from typing import Any

import anyio
import anyio.from_thread
import httpx
import pytest

from session_store_client import AsyncClient, Bearer, Client, Retries, SigV4, errors
from session_store_client.transport import validated_url
from tests.support.client_answers import (
    SESSION_ID,
    TOKEN,
    URL,
    Scripted,
    lost,
    ok,
    page,
    problem,
)

MESSAGE = {"messageId": "m1", "content": {"text": "hi"}, "appendedAt": "2026-11-30T08:30:00.123Z"}
SECRET_KEY = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"


def test_a_session_is_read_typed() -> None:
    server = Scripted(ok())
    session = server.client().get_session(SESSION_ID, min_version=6)
    assert (session.session_id, session.version, session.state) == (SESSION_ID, 7, {"n": 1})
    (request,) = server.requests
    assert str(request.url) == f"{URL}/sessions/{SESSION_ID}"
    assert request.headers["session-min-version"] == "6"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


def test_members_that_a_later_api_adds_are_passed_over() -> None:
    server = Scripted(ok({"status": "ok", "region": "us-east-1"}))
    assert server.client().get_health().status == "ok"


def test_a_version_is_sent_in_quotes() -> None:
    server = Scripted(ok())
    server.client().replace_state(SESSION_ID, {}, version=7)
    assert server.requests[0].headers["if-match"] == '"7"'


def test_each_client_acts_for_its_own_subject() -> None:
    server = Scripted(ok(), ok(), ok())
    client = server.client()
    alice, bob = client.acting_for("alice"), client.acting_for("bob")
    for each in (client, alice, bob):
        each.get_session(SESSION_ID)
    assert [request.headers.get("session-subject") for request in server.requests] == [None, "alice", "bob"]


@pytest.mark.parametrize("subject", ["", "-", ".", "..", "a b", "ä", "a\nx: y", "x" * 129])
def test_a_subject_that_the_store_would_refuse_is_refused_before_it_is_sent(subject: str) -> None:
    with pytest.raises(ValueError, match="subject"):
        Scripted().client().acting_for(subject)


@pytest.mark.parametrize("session_id", ["", ".", ".."])
def test_no_id_makes_the_path_another_operations(session_id: str) -> None:
    server = Scripted()
    with pytest.raises(ValueError, match="session id"):
        server.client().delete_session(session_id)
    with pytest.raises(ValueError, match="tool call id"):
        server.client().get_tool_call(SESSION_ID, session_id)
    assert server.requests == []


@pytest.mark.parametrize("tool_call_id", ["a/b", "a?b", "a#b", "%2F", "a%", "~!'()*", "x" * 256, "../../x"])
def test_any_id_is_one_segment_of_the_path(tool_call_id: str) -> None:
    server = Scripted(problem(404, "not-found"))
    with pytest.raises(errors.NotFoundError):
        server.client().get_tool_call(SESSION_ID, tool_call_id)
    path = server.requests[0].url.raw_path.decode()
    prefix, _, last = path.rpartition("/")
    assert prefix == f"/v1/sessions/{SESSION_ID}/tool-calls"
    assert httpx.URL(f"http://x/{last}").path == f"/{tool_call_id}"


def test_a_list_is_read_page_by_page_as_far_as_it_is_asked_for() -> None:
    second = {**MESSAGE, "messageId": "m2"}
    server = Scripted(page([MESSAGE], "c+1="), page([], "c2"), page([second], None))
    messages = server.client().list_messages(SESSION_ID, order="desc", limit=1)
    assert next(messages).message_id == "m1"
    assert len(server.requests) == 1
    assert [each.message_id for each in messages] == ["m2"]
    asked = [dict(request.url.params) for request in server.requests]
    assert asked == [
        {"order": "desc", "limit": "1"},
        {"order": "desc", "limit": "1", "cursor": "c+1="},
        {"order": "desc", "limit": "1", "cursor": "c2"},
    ]


def test_a_problem_is_an_exception_with_its_facts() -> None:
    server = Scripted(problem(412, "version-conflict", currentVersion=9))
    with pytest.raises(errors.VersionConflictError) as raised:
        server.client().replace_state(SESSION_ID, {}, version=7)
    error = raised.value
    assert (error.slug, error.status, error.request_id) == ("version-conflict", 412, "req-1")
    assert error.current_version == 9
    assert str(error) == "No. (version-conflict, request req-1)"


def test_a_response_outside_the_contract_is_unreadable() -> None:
    for answer in (ok({"other": 1}), ok([1]), ok("x", status=302), ok({}, status=404)):
        with pytest.raises(errors.UnreadableAnswerError):
            Scripted(answer).client().get_session(SESSION_ID)


@pytest.mark.parametrize("url", ["http://api.example.com", "ftp://x", "x", "https://u:p@x", "https://x?a=b"])
def test_a_url_without_tls_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="https"):
        Client(url, Bearer(TOKEN))


def test_loopback_may_be_reached_without_tls() -> None:
    assert validated_url("http://127.0.0.1:4566/v1/") == "http://127.0.0.1:4566/v1"


def test_loopback_is_reached_without_the_configured_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:1")
    client = Client("http://127.0.0.1:4566/v1", Bearer(TOKEN))
    assert client._http._mounts == {}
    assert client._http.trust_env is False


def test_a_token_provider_is_asked_at_each_attempt() -> None:
    tokens = iter(["first", "second"])
    server = Scripted(lost(), ok())
    transport = httpx.MockTransport(server)
    Client(
        URL, Bearer(lambda: next(tokens)), transport=transport, retries=Retries(pause_seconds=0)
    ).get_session(SESSION_ID)
    sent = [request.headers["authorization"] for request in server.requests]
    assert sent == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize(
    "authentication", [Bearer(TOKEN), SigV4.key("AKIDEXAMPLE", SECRET_KEY, region="eu-west-1")]
)
def test_neither_repr_nor_log_nor_error_shows_a_secret(
    authentication: Any, caplog: pytest.LogCaptureFixture
) -> None:
    # botocore's own DEBUG log shows signatures; docs/client.md warns of it.
    caplog.set_level(logging.INFO, logger="botocore")
    caplog.set_level(logging.DEBUG)
    server = Scripted(lost(), problem(401, "unauthenticated"))
    options = {"retries": Retries(pause_seconds=0), "transport": httpx.MockTransport(server)}
    client = Client(URL, authentication, **options)  # type: ignore[arg-type] # as given
    with pytest.raises(errors.UnauthenticatedError) as raised:
        client.get_session(SESSION_ID)
    assert "again in" in caplog.text
    assert server.requests[0].headers["authorization"]
    shown = f"{client!r} {raised.value!r} {raised.value} {raised.value.facts} {caplog.text}"
    for secret in (TOKEN, SECRET_KEY, "Signature", "Bearer s"):
        assert secret not in shown


def test_a_token_that_no_header_can_hold_is_not_shown_by_the_refusal() -> None:
    for token in (f"{TOKEN}\nx: y", f"{TOKEN} ", ""):
        client = Client(URL, Bearer(token), transport=httpx.MockTransport(Scripted()))
        with pytest.raises(errors.CredentialsError) as raised:
            client.get_session(SESSION_ID)
        assert TOKEN not in str(raised.value)


def test_the_awaited_client_sends_and_reads_the_same() -> None:
    def events() -> Scripted:
        return Scripted(lost(), ok(), page([MESSAGE], "c"), page([MESSAGE], None), ok(None, status=204))

    server, other = events(), events()
    client = server.client()
    expected: list[Any] = [client.get_session(SESSION_ID), list(client.list_messages(SESSION_ID))]
    client.delete_session(SESSION_ID)

    async def awaited() -> list[Any]:
        options: dict[str, Any] = {"retries": Retries(pause_seconds=0)}
        async with AsyncClient(URL, Bearer(TOKEN), transport=httpx.MockTransport(other), **options) as each:
            session = await each.get_session(SESSION_ID)
            messages = [message async for message in each.list_messages(SESSION_ID)]
            await each.delete_session(SESSION_ID)
            return [session, messages]

    assert anyio.run(awaited) == expected
    assert [(each.method, each.url, each.headers) for each in server.requests] == [
        (each.method, each.url, each.headers) for each in other.requests
    ]


def test_the_awaited_client_does_not_wait_for_credentials_in_the_event_loop() -> None:
    async def run() -> list[str]:
        calls: list[str] = []

        def token() -> str:
            # Only a thread beside the loop can call into it.
            anyio.from_thread.run_sync(calls.append, "loop is free")
            return TOKEN

        transport = httpx.MockTransport(Scripted(ok()))
        async with AsyncClient(URL, Bearer(token), transport=transport) as client:
            await client.acting_for("alice").get_session(SESSION_ID)
        return calls

    assert anyio.run(run) == ["loop is free"]


def test_a_closed_client_closes_those_made_from_it() -> None:
    with Scripted().client() as client:
        other = client.acting_for("alice")
    assert other._http.is_closed
