"""The emulator keeps its data, and one run at a time uses it."""

import dataclasses
import socket
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from local.credentials import Credentials
from local.emulator import ACCOUNT, Emulator, EmulatorError, owned, running
from local.loopback import HOST, PortError, free_port

TABLE = "kept"


def put(emulator: Emulator) -> None:
    dynamodb = emulator.client("dynamodb")
    dynamodb.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    dynamodb.put_item(TableName=TABLE, Item={"pk": {"S": "a"}})


def test_data_survive_a_stop_and_a_start(tmp_path: Path) -> None:
    with running(tmp_path, port=free_port()) as first:
        put(first)
    assert first.process.poll() is not None
    with running(tmp_path, port=free_port()) as second:
        item = second.client("dynamodb").get_item(TableName=TABLE, Key={"pk": {"S": "a"}})["Item"]
    assert item == {"pk": {"S": "a"}}


def test_an_unknown_key_may_do_nothing(emulator: Emulator) -> None:
    unknown = Credentials(access_key_id="AKIAEXAMPLEEXAMPLE00", secret_access_key="of nobody")
    stranger = dataclasses.replace(emulator, root=unknown)
    with pytest.raises(ClientError, match="UnrecognizedClientException"):
        stranger.client("dynamodb").list_tables()


def test_a_taken_port_is_refused_by_number(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortError, match=f"port {port} is in use"), running(tmp_path, port=port):
            pass


def test_one_state_has_one_run(tmp_path: Path) -> None:
    with owned(tmp_path), pytest.raises(EmulatorError, match="in use by another run"), owned(tmp_path):
        pass
    with owned(tmp_path):
        pass


def test_a_profile_of_this_machine_does_not_reach_the_emulator(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "at-work")
    assert emulator.client("sts").get_caller_identity()["Account"] == ACCOUNT
