"""The command ``sessions``: its output, its connection and its errors."""

import functools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from session_store_client import Bearer, Client, SigV4
from session_store_client.cli import connection
from session_store_client.cli.command import main
from session_store_client.cli.connection import connect
from tests.support.client_answers import TOKEN
from tests.support.in_process_transport import API, InProcessTransport


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch, transport: InProcessTransport) -> None:
    """Every command calls the API in process."""
    in_process = functools.partial(Client, transport=httpx.MockTransport(transport))
    monkeypatch.setattr(connection, "Client", in_process)
    monkeypatch.setenv("SESSION_STORE_URL", API)
    monkeypatch.setenv("SESSION_STORE_TOKEN", TOKEN)


@pytest.fixture
def client(transport: InProcessTransport) -> Client:
    return Client(API, Bearer(TOKEN), subject="alice", transport=httpx.MockTransport(transport))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main([*arguments, "--subject", "alice"])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_ls_lists_the_callers_sessions(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = client.create_session().session_id, client.create_session().session_id
    client.move_session(second, "active")
    code, out, err = run(capsys, "ls")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].split() == ["SESSION", "STATUS", "SUBJECT", "CREATED", "ENDS"]
    assert {line.split()[0] for line in lines[1:]} == {first, second}
    assert [line.split()[0] for line in run(capsys, "ls", "--status", "active")[1].splitlines()[1:]] == [
        second
    ]
    assert len(run(capsys, "ls", "--limit", "1")[1].splitlines()) == 2
    assert len(run(capsys, "ls", "--limit", "1000")[1].splitlines()) == 3


def test_ls_says_that_there_is_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "ls") == (0, "none\n", "")
    assert run(capsys, "ls", "--json") == (0, "", "")


def test_json_output_equals_the_apis_answers(
    transport: InProcessTransport, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    session_id = client.create_session(state={"n": 0.1, "big": 12345678901234567890123}).session_id
    listed = transport.api.call("GET", "/sessions").json["items"]
    assert [json.loads(line) for line in run(capsys, "ls", "--json")[1].splitlines()] == listed
    code, out, _ = run(capsys, "show", session_id, "--json")
    assert code == 0
    assert json.loads(out) == transport.api.call("GET", f"/sessions/{session_id}").json
    assert "12345678901234567890123" in out


def test_show_names_every_member_and_obeys_no_control_character(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    session_id = client.create_session(state={"a": "\x1b[2J\x9b1A"}).session_id
    _, out, _ = run(capsys, "show", session_id)
    members = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert members["sessionId"] == session_id
    assert members["status"] == "initializing"
    assert {"\x1b", "\x9b"}.isdisjoint(out)
    assert "\\x9b" in members["state"]


def test_expiring_lists_sessions_that_expire_soon(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    session_id = client.create_session(idle_timeout=10).session_id
    client.move_session(session_id, "active")
    code, out, _ = run(capsys, "expiring", "--within", "60")
    assert (code, out.splitlines()[1].split()[0]) == (0, session_id)


def test_tail_shows_the_last_of_the_transcript_the_calls_and_the_audit_in_time_order(
    client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    session_id = client.create_session().session_id
    client.append_messages(session_id, [f"m{number}" for number in range(25)])
    client.record_tool_call(session_id, "c1", tool_name="search", input={"q": 1}, output=2, duration_ms=1)
    code, out, err = run(capsys, "tail", session_id, "--for", "0", "--last", "100")
    assert code == 0
    assert "keeps it alive" in err
    rows = [line.split() for line in out.splitlines()]
    assert [row[2] for row in rows if row[1] == "message"] == [f'"m{number}"' for number in range(25)]
    assert [row[2:4] for row in rows if row[1] == "call"] == [["search", "completed"]]
    assert [row[2] for row in rows if row[1] == "audit"] == ["ToolCallRecorded"]
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    only = run(capsys, "tail", session_id, "--for", "0", "--only", "messages", "--last", "2")[1]
    assert [line.split()[2] for line in only.splitlines()] == ['"m23"', '"m24"']
    assert run(capsys, "tail", session_id, "--for", "0", "--last", "0")[1] == ""


def test_tail_shows_new_entries_once_until_the_session_is_gone(
    client: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = client.create_session().session_id
    for start in range(0, 250, 25):
        client.append_messages(session_id, [f"m{number}" for number in range(start, start + 25)])
    polls: Iterator[Callable[[], object]] = iter(
        [
            lambda: client.append_messages(session_id, ["new"]),
            lambda: None,
            lambda: client.record_tool_call(session_id, "c1", tool_name="t", input=1, duration_ms=1),
            lambda: client.delete_session(session_id),
        ]
    )
    monkeypatch.setattr(time, "sleep", lambda _: next(polls)())
    code, out, err = run(capsys, "tail", session_id, "--json", "--only", "messages", "--only", "calls")
    assert code == 0
    assert err.endswith("the session is gone\n")
    entries = [json.loads(line) for line in out.splitlines()]
    assert [each["item"].get("content") for each in entries if each["kind"] == "message"] == [
        *(f"m{number}" for number in range(240, 250)),
        "new",
    ]
    assert [each["item"]["toolCallId"] for each in entries if each["kind"] == "call"] == ["c1"]


def test_tail_reads_on_from_where_it_was(
    transport: InProcessTransport,
    client: Client,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session_id = client.create_session().session_id
    for start in range(0, 500, 25):
        client.append_messages(session_id, list(range(start, start + 25)))
    counted: list[int] = []
    polls = iter(range(2))

    def count(_: float) -> None:
        next(polls)
        counted.append(transport.requests)

    monkeypatch.setattr(time, "sleep", count)
    before = transport.requests
    with pytest.raises(StopIteration):
        run(capsys, "tail", session_id, "--only", "messages")
    # All five pages at first, then the last two.
    assert [counted[0] - before, counted[1] - counted[0]] == [5, 2]


def test_ctrl_c_ends_tail_cleanly(
    client: Client, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupted)
    code, out, err = run(capsys, "tail", client.create_session().session_id)
    assert (code, out) == (0, "")
    assert "Traceback" not in err


def test_an_unknown_session_is_reported_with_the_url(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("show", "tail"):
        code, out, err = run(capsys, command, "use1-" + "a" * 32)
        assert (code, out) == (1, "")
        assert f"error: {API}: There is no such session. (session-not-found, request " in err


@pytest.mark.usefixtures("client")
def test_a_call_that_cannot_be_sent_exits_with_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run(capsys, "show", "..")[::2] == (2, f"error: {API}: '..' is not a session id\n")
    code, _, err = run(capsys, "ls", "--local", str(tmp_path))
    assert (code, "api-url; start one with `make run`" in err) == (2, True)
    monkeypatch.delenv("SESSION_STORE_URL")
    code, _, err = run(capsys, "ls")
    assert (code, "pass --url, set SESSION_STORE_URL, or pass --local" in err) == (2, True)
    code, _, err = run(capsys, "ls", "--url", "http://api.example.com")
    assert (code, "https" in err, TOKEN in err) == (2, True, False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["ls", "--limit", "0"],
        ["ls", "--limit", "x"],
        ["ls", "--status", "gone"],
        ["ls", "--url", "https://x", "--local"],
        ["ls", "--profile", "p", "--token", "t"],
        ["tail", "x", "--every", "0"],
        ["show"],
        [],
    ],
)
def test_a_wrong_option_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def options(**given: Any) -> Any:
    values = {"url": None, "local": None, "profile": None, "token": None, "region": None, "subject": None}
    return type("Options", (), {**values, **given})


def test_the_local_stack_is_called_as_its_first_tenant_or_the_named_profile(tmp_path: Path) -> None:
    (tmp_path / "api-url").write_text("http://127.0.0.1:4566/v1\n")
    keys = "aws_access_key_id = AK{0}\naws_secret_access_key = s\nregion = us-east-1\n"
    text = "".join(f"[{name}]\n{keys.format(name)}" for name in ("tenant-a", "operator"))
    (tmp_path / "credentials").write_text(text)
    for profile, key in ((None, "AKtenant-a"), ("operator", "AKoperator")):
        target = connect(options(local=str(tmp_path), profile=profile), {})
        assert target.url == "http://127.0.0.1:4566/v1"
        assert isinstance(target.authentication, SigV4)
        assert (target.authentication.credentials.access_key, target.authentication.region) == (
            key,
            "us-east-1",
        )
    with pytest.raises(connection.ConnectionOptionsError, match="no usable key for the profile nobody"):
        connect(options(local=str(tmp_path), profile="nobody"), {})
    elsewhere = {"SESSION_STORE_TOKEN": "of production"}
    assert isinstance(connect(options(local=str(tmp_path)), elsewhere).authentication, SigV4)
    assert connect(options(local=str(tmp_path), token="t"), elsewhere).authentication == Bearer("t")


def test_a_profile_that_is_named_comes_before_the_token_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signing = SigV4.key("AK", "s", region="us-east-1")
    monkeypatch.setattr(SigV4, "default", lambda *_, **__: signing)
    environment = {"SESSION_STORE_URL": API, "SESSION_STORE_TOKEN": TOKEN}
    assert connect(options(profile="p"), environment).authentication is signing
    assert connect(options(), environment).authentication == Bearer(TOKEN)
    assert connect(options(token="t"), environment).authentication == Bearer("t")
