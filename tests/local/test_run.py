"""``make run`` reports why it cannot run, and leaves no URL behind."""

import socket
from pathlib import Path

import pytest

from local.access import AUTH_URL
from local.emulator import owned
from local.loopback import HOST, PortError, free_port
from local.run import main, read_options
from local.stack import StackOptions


def test_a_taken_port_ends_the_run_and_removes_a_stale_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = tmp_path / "api-url"
    stale.write_text("http://127.0.0.1:1/left-by-a-crash")
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))
        monkeypatch.setenv("AUTH_PORT", str(free_port()))
        assert main(tmp_path) == 1
    assert f"port {port} is in use" in capsys.readouterr().err
    assert not stale.exists()


def test_a_second_run_leaves_the_url_of_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = tmp_path / "api-url"
    with owned(tmp_path):
        url.write_text("http://127.0.0.1:1/of-the-first")
        assert main(tmp_path) == 1
    assert "in use by another run" in capsys.readouterr().err
    assert url.exists()


@pytest.mark.parametrize("port", ["http", "80", "70000", "-1"])
@pytest.mark.parametrize("variable", ["PORT", "AUTH_PORT"])
def test_a_port_that_is_none_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    port: str,
) -> None:
    monkeypatch.setenv(variable, port)
    assert main(tmp_path) == 1
    printed = capsys.readouterr().err
    assert printed.startswith(f"error: {variable} must be")
    assert f"got '{port}'" in printed


def test_a_taken_port_of_the_authorization_server_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setenv("AUTH_PORT", str(port))
        assert main(tmp_path) == 1
    assert (
        f"port {port} is in use: stop the process that listens there, or choose another with AUTH_PORT="
        in (capsys.readouterr().err)
    )
    assert not (tmp_path / AUTH_URL).exists()


def test_the_authorization_server_has_the_next_port_unless_configured() -> None:
    assert read_options({}) == StackOptions(port=4566, auth_port=4567)
    assert read_options({"PORT": "5000"}) == StackOptions(port=5000, auth_port=5001)
    assert read_options({"PORT": "5000", "AUTH_PORT": "6000"}) == StackOptions(port=5000, auth_port=6000)
    with pytest.raises(PortError, match="AUTH_PORT must differ from PORT"):
        read_options({"PORT": "5000", "AUTH_PORT": "5000"})


def test_with_another_endpoint_no_port_is_needed_for_ours() -> None:
    elsewhere = "http://127.0.0.1:9/revoke"
    options = read_options({"PORT": "65535", "REVOCATION_ENDPOINT": elsewhere})
    assert options == StackOptions(port=65535, auth_port=None, revocation_endpoint=elsewhere)


def test_callers_show_tokens_where_that_is_asked_for() -> None:
    assert read_options({"AUTH": "jwt"}) == StackOptions(port=4566, auth_port=4567, tokens=True)
    assert read_options({"AUTH": "iam"}) == read_options({"AUTH": ""}) == read_options({})


def test_with_tokens_the_own_server_runs_beside_any_revocation_endpoint() -> None:
    elsewhere = "http://127.0.0.1:9/revoke"
    options = read_options({"AUTH": "jwt", "REVOCATION_ENDPOINT": elsewhere})
    assert options == StackOptions(port=4566, auth_port=4567, revocation_endpoint=elsewhere, tokens=True)


def test_another_way_of_calling_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AUTH", "basic")
    assert main(tmp_path) == 1
    assert capsys.readouterr().err == "error: AUTH must be one of iam, jwt, got 'basic'\n"
