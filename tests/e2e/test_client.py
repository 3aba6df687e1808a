"""The client and its command against the deployed stack: signatures are checked, answers are lost."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import anyio
import pytest

from local.access import API_URL, CREDENTIALS
from session_store_client import AsyncClient, Client, OutcomeUnknownError, SigV4, errors
from session_store_client.cli.command import main
from tests.support.calls import new_subject
from tests.support.client_calls import client_of
from tests.support.emulator import LiveStack
from tests.support.lossy_proxy import LossyProxy


@pytest.fixture
def client(deployed: LiveStack) -> Iterator[Client]:
    with client_of(deployed, "tenant-a") as client:
        yield client


def test_a_whole_life_is_played(client: Client) -> None:
    state = {"goal": "trip", "price": 89.9, "exact": Decimal("0.12345678901234567890"), "big": 2**70}
    session = client.create_session(state=state, idle_timeout=60)
    session_id = session.session_id
    assert session.state == state
    assert client.move_session(session_id, "active").status == "active"
    changed = client.change_state(session_id, set={"city": "Lisboa ü"}, increment={"n": 2}, append={"l": [1]})
    replaced = client.replace_state(session_id, {"a": [1, 2.5]}, version=changed.version)
    assert client.get_session(session_id, min_version=replaced.version).state == {"a": [1, 2.5]}
    with pytest.raises(errors.VersionConflictError) as raised:
        client.replace_state(session_id, {}, version=changed.version)
    assert raised.value.current_version == replaced.version
    assert raised.value.request_id
    client.append_messages(session_id, ["one", {"n": 0.1}], atomic=True)
    assert [each.content for each in client.list_messages(session_id, limit=1)] == ["one", {"n": 0.1}]
    record = client.record_tool_call(session_id, "c:1~'x?", tool_name="t", input={}, duration_ms=5)
    assert client.get_tool_call(session_id, "c:1~'x?") == record
    assert list(client.list_tool_calls(session_id)) == list(client.get_history(session_id).items) == [record]
    assert client.touch_session(session_id).status == "active"
    assert [each.session_id for each in client.list_sessions(status="active", limit=1)] == [session_id]
    assert any(each.event_name == "ToolCallRecorded" for each in client.list_audit(session_id))
    client.delete_session(session_id)
    with pytest.raises(errors.SessionNotFoundError):
        client.get_session(session_id)


def test_operators_calls_are_answered(deployed: LiveStack) -> None:
    key = deployed.keys["operator"]
    signing = SigV4.key(key.access_key_id, key.secret_access_key, region=key.region)
    with Client(deployed.deployed.api_url, signing) as operator:
        assert list(operator.list_expiring(within_seconds=1)) == []
        assert {each.queue for each in operator.list_dead_letters(limit=1).queues} == {"stream", "cleanup"}
        assert operator.get_health().status == "ok"
        with pytest.raises(errors.ForbiddenError):
            operator.create_session()


def test_a_wrong_key_is_told_as_such(deployed: LiveStack) -> None:
    key = deployed.keys["tenant-a"]
    signing = SigV4.key(key.access_key_id, "guessed", region=key.region)
    with Client(deployed.deployed.api_url, signing) as client, pytest.raises(errors.UnauthenticatedError):
        client.create_session()


def test_another_users_session_is_not_found(client: Client) -> None:
    session_id = client.create_session().session_id
    with pytest.raises(errors.SessionNotFoundError):
        client.acting_for(new_subject()).get_session(session_id)


def test_the_awaited_client_calls_at_once(deployed: LiveStack) -> None:
    key = deployed.keys["tenant-a"]
    signing = SigV4.key(key.access_key_id, key.secret_access_key, region=key.region)

    async def run() -> list[object]:
        async with AsyncClient(deployed.deployed.api_url, signing, subject=new_subject()) as client:
            session_id = (await client.create_session()).session_id
            async with anyio.create_task_group() as group:
                for number in range(5):
                    group.start_soon(client.append_messages, session_id, [number])
            return [message.content async for message in client.list_messages(session_id, limit=2)]

    assert sorted(map(str, anyio.run(run))) == ["0", "1", "2", "3", "4"]


def test_a_message_whose_answer_is_lost_is_there_once(proxy: LossyProxy, lossy: Client) -> None:
    session_id = lossy.create_session().session_id
    proxy.losing = 2
    lossy.append_messages(session_id, ["once", "each"])
    assert [method for method, _ in proxy.forwarded] == ["POST"] * 4
    assert [each.content for each in lossy.list_messages(session_id)] == ["once", "each"]


def test_a_call_whose_answer_is_lost_is_recorded_once(proxy: LossyProxy, lossy: Client) -> None:
    session_id = lossy.create_session().session_id
    proxy.losing = 1
    record = lossy.record_tool_call(session_id, "c1", tool_name="t", input=1, output=2, duration_ms=5)
    assert list(lossy.list_tool_calls(session_id)) == [record]


def test_a_deletion_whose_answer_is_lost_is_done(proxy: LossyProxy, lossy: Client) -> None:
    session_id = lossy.create_session().session_id
    proxy.losing = 1
    lossy.delete_session(session_id)


def test_a_replacement_whose_answer_is_lost_is_told_as_unknown(proxy: LossyProxy, lossy: Client) -> None:
    session_id = lossy.create_session().session_id
    proxy.losing = 1
    with pytest.raises(OutcomeUnknownError):
        lossy.replace_state(session_id, {"a": 1}, version=1)
    assert lossy.get_session(session_id).state == {"a": 1}


def test_the_command_reads_what_a_local_stack_tells_of_itself(
    deployed: LiveStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / API_URL).write_text(deployed.deployed.api_url)
    (tmp_path / CREDENTIALS).write_text(deployed.credentials.read_text())
    subject = new_subject()
    with client_of(deployed, "tenant-a", subject=subject) as client:
        session_id = client.create_session(state={"goal": "trip"}).session_id
        client.append_messages(session_id, ["hello"])
    place = ["--local", str(tmp_path), "--subject", subject, "--json"]
    assert main(["ls", *place]) == 0
    assert [json.loads(line)["sessionId"] for line in capsys.readouterr().out.splitlines()] == [session_id]
    assert main(["show", session_id, *place]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == {"goal": "trip"}
    assert main(["tail", session_id, "--for", "0", "--only", "messages", *place]) == 0
    assert json.loads(capsys.readouterr().out)["item"]["content"] == "hello"
    assert main(["expiring", "--local", str(tmp_path), "--profile", "operator", "--within", "1"]) == 0
    capsys.readouterr()
    assert main(["show", session_id, "--local", str(tmp_path), "--profile", "tenant-b"]) == 1
    assert "session-not-found" in capsys.readouterr().err


def test_the_command_signs_with_a_profile_of_the_credentials_file(deployed: LiveStack) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    command = [sys.executable, "-m", "session_store_client", "ls", "--profile", "tenant-b"]
    done = subprocess.run(
        [*command, "--subject", new_subject()],
        env={
            **own,
            "AWS_SHARED_CREDENTIALS_FILE": str(deployed.credentials),
            "SESSION_STORE_URL": deployed.deployed.api_url,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "none\n", "")
