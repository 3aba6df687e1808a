"""The local deployment: the same app, once."""

import configparser
from pathlib import Path

import pytest

from local.deployment import DeploymentError, deploy
from local.principals import DELEGATES, provision
from tests.support.emulator import LiveStack


def test_what_is_deployed_already_is_not_deployed_again(deployed: LiveStack) -> None:
    said: list[str] = []
    again = deploy(deployed.emulator, delegates=DELEGATES, revocation_endpoint=None, say=said.append)
    assert again == deployed.deployed
    assert said == ["the deployed stacks are up to date"]


def test_a_missing_node_is_named(
    deployed: LiveStack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeploymentError, match=r"install Node\.js"):
        deploy(
            deployed.emulator,
            delegates=["000000000000:user/another"],
            revocation_endpoint=None,
            say=print,
        )


def test_another_revocation_endpoint_is_deployed_anew(
    deployed: LiveStack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DeploymentError, match="node"):
        deploy(
            deployed.emulator,
            delegates=DELEGATES,
            revocation_endpoint="http://127.0.0.1:1/revoke",
            say=print,
        )


def test_keys_that_still_hold_are_kept_in_a_private_file(deployed: LiveStack) -> None:
    file = deployed.credentials
    before = file.read_text()
    again = provision(deployed.emulator, deployed=deployed.deployed, file=file)
    assert again == deployed.keys
    assert file.read_text() == before
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_file_is_one_that_aws_tools_read(deployed: LiveStack) -> None:
    profiles = configparser.ConfigParser()
    profiles.read(deployed.credentials)
    assert {
        name: (profile["aws_access_key_id"], profile["aws_secret_access_key"])
        for name, profile in profiles.items()
        if name != profiles.default_section
    } == {name: (key.access_key_id, key.secret_access_key) for name, key in deployed.keys.items()}
