"""What ``README.md`` and ``docs/client.md`` show runs as it stands."""

import re
from functools import partial
from pathlib import Path
from typing import Final

import httpx
import pytest

import session_store_client
from session_store_client import Bearer, Client, errors
from tests.support.in_process_transport import API, InProcessTransport
from tests.support.payments import Payments

ROOT: Final = Path(__file__).resolve().parents[2]


@pytest.fixture
def client(transport: InProcessTransport) -> Client:
    return Client(API, Bearer("t"), subject="alice", transport=httpx.MockTransport(transport))


@pytest.fixture(autouse=True)
def _on_this_api(transport: InProcessTransport, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client that an example makes calls the API in process, wherever the example says that it is."""

    class Here(Client):
        def __init__(self, url: str) -> None:
            assert url.endswith(".execute-api.us-east-1.amazonaws.com/v1")
            super().__init__(API, Bearer("t"), subject="alice", transport=httpx.MockTransport(transport))

    monkeypatch.setattr(session_store_client, "Client", Here)


def run(guide: str, **named: object) -> None:
    """The one example of a guide."""
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / guide).read_text(), re.DOTALL)
    exec(compile(example, guide, "exec"), named)  # noqa: S102 - the guide is this project's own


def test_the_tool_of_the_readme_charges_once(client: Client, tmp_path: Path) -> None:
    payments = Payments(books=tmp_path / "books.jsonl")
    run("README.md", payments=payments)
    (charged,) = payments.charges()
    assert charged["cents"] == 1990
    (session,) = client.list_sessions()
    assert client.get_session(session.session_id).state == {"goal": "book a trip", "charges": 1}


def test_a_worker_of_the_readme_that_dies_leaves_a_call_that_is_not_run_again(
    client: Client, transport: InProcessTransport, tmp_path: Path
) -> None:
    class DeadError(BaseException):
        pass

    class Deadly(Payments):
        def charge(self, cents: int, *, idempotency_key: str) -> dict[str, object]:
            super().charge(cents, idempotency_key=idempotency_key)
            raise DeadError

    payments = Deadly(books=tmp_path / "books.jsonl")
    with pytest.raises(DeadError):
        run("README.md", payments=payments)
    (session,) = client.list_sessions()
    (call,) = client.get_recovery(session.session_id).in_flight
    begin = partial(
        client.begin_tool_call,
        session.session_id,
        call.tool_call_id,
        tool_name="charge",
        input={"order": 7, "cents": 1990},
    )
    transport.api.world.clock.pass_(70)
    with pytest.raises(errors.UnreconciledError):
        begin()
    (receipt,) = payments.charges()
    client.reconcile_tool_call(
        session.session_id, call.tool_call_id, fence=call.fence, outcome="completed", output=receipt
    )
    assert begin().output == receipt


def test_the_example_of_the_client_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run("docs/client.md")
    message, conflict = capsys.readouterr().out.splitlines()
    assert message.endswith("{'role': 'user', 'text': 'A room in Lisbon, please.'}")
    assert conflict == "now at 2"
