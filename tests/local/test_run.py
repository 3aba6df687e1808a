"""``make run`` says what keeps it from running, and leaves no URL behind."""

import socket
from pathlib import Path

import pytest

from local.emulator import HOST, owned
from local.run import main


def test_a_taken_port_ends_the_run_and_removes_a_stale_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = tmp_path / "api-url"
    stale.write_text("http://127.0.0.1:1/left-by-a-crash")
    with socket.create_server((HOST, 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))
        assert main(tmp_path) == 1
    assert f"port {port} is taken" in capsys.readouterr().err
    assert not stale.exists()


def test_a_second_run_leaves_the_url_of_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = tmp_path / "api-url"
    with owned(tmp_path):
        url.write_text("http://127.0.0.1:1/of-the-first")
        assert main(tmp_path) == 1
    assert "in use by another run" in capsys.readouterr().err
    assert url.exists()


@pytest.mark.parametrize("port", ["http", "80", "70000", "-1"])
def test_a_port_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], port: str
) -> None:
    monkeypatch.setenv("PORT", port)
    assert main(tmp_path) == 1
    assert f"got '{port}'" in capsys.readouterr().err
