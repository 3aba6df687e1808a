"""What failures on the transport mean, and how long each attempt may take."""

import httpx
import pytest

from session_store_client import Bearer, Client, OutcomeUnknownError, Retries
from session_store_client.problems import MAX_RETRY_AFTER_SECONDS, HttpResponse, retry_after_seconds
from tests.support.client_answers import TOKEN, URL, Scripted, ok, page
from tests.support.in_process_transport import API, InProcessTransport

DRAINED = {"moved": 1, "skipped": 0, "more": False}


def failing_once(error: httpx.RequestError) -> Client:
    """Its first attempt fails so; a call that may not be repeated shows what that is taken for."""
    server = Scripted(ok(DRAINED))
    errors = iter([error])

    def answer(request: httpx.Request) -> httpx.Response:
        for each in errors:
            raise each
        return server(request)

    return Client(URL, Bearer(TOKEN), transport=httpx.MockTransport(answer), retries=Retries(pause_seconds=0))


@pytest.mark.parametrize(
    "kind", [httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError]
)
def test_what_never_left_is_sent_again(kind: type[httpx.RequestError]) -> None:
    assert failing_once(kind("no transport")).drain_sessions(within_seconds=60).moved == 1


@pytest.mark.parametrize(
    "kind",
    [
        httpx.ReadError,
        httpx.ReadTimeout,
        httpx.WriteError,
        httpx.WriteTimeout,
        httpx.RemoteProtocolError,
        httpx.DecodingError,
    ],
)
def test_what_may_have_left_may_have_been_done(kind: type[httpx.RequestError]) -> None:
    with pytest.raises(OutcomeUnknownError):
        failing_once(kind("lost")).drain_sessions(within_seconds=60)


def test_an_attempt_waits_no_longer_than_it_may() -> None:
    server = Scripted(page([], None))
    list(server.client(retries=Retries(attempt_seconds=7, deadline_seconds=60)).list_sessions())
    assert server.requests[0].extensions["timeout"]["read"] == pytest.approx(7)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3", 3),
        ("0", 0),
        ("", 0),
        ("-1", 0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", 0),
        ("9" * 400, MAX_RETRY_AFTER_SECONDS),
    ],
)
def test_whatever_is_sent_as_retry_after_is_seconds_to_wait(text: str, seconds: float) -> None:
    assert retry_after_seconds(HttpResponse(status=503, headers={"retry-after": text}, body=b"")) == seconds


def test_more_than_a_page_is_asked_for_by_pages(transport: InProcessTransport) -> None:
    client = Client(API, Bearer(TOKEN), subject="alice", transport=httpx.MockTransport(transport))
    made = {client.create_session().session_id for _ in range(101)}
    assert {each.session_id for each in client.list_sessions(limit=100)} == made
