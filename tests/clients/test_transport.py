"""What transport failures mean, and how long each attempt may take."""

import httpx
import pytest

from session_store_client import Bearer, Client, OutcomeUnknownError, Retries
from session_store_client.problems import MAX_RETRY_AFTER_SECONDS, HttpResponse, retry_after_seconds
from tests.support.client_answers import TOKEN, URL, Scripted, ok, page
from tests.support.in_process_transport import API, InProcessTransport

DRAINED = {"moved": 1, "skipped": 0, "more": False}


def failing_once(error: httpx.RequestError) -> Client:
    """Return a client whose first attempt fails with ``error`` and whose second succeeds."""
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
def test_a_request_that_was_never_sent_is_retried(kind: type[httpx.RequestError]) -> None:
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
def test_a_request_that_may_have_been_sent_leaves_the_outcome_unknown(kind: type[httpx.RequestError]) -> None:
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
def test_retry_after_is_read_as_seconds_whatever_its_form(text: str, seconds: float) -> None:
    assert retry_after_seconds(HttpResponse(status=503, headers={"retry-after": text}, body=b"")) == seconds


def test_more_than_a_page_is_asked_for_by_pages(transport: InProcessTransport) -> None:
    client = Client(API, Bearer(TOKEN), subject="alice", transport=httpx.MockTransport(transport))
    created = {client.create_session().session_id for _ in range(101)}
    assert {each.session_id for each in client.list_sessions(limit=100)} == created
