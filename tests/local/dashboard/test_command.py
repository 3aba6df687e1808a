"""``make dashboard`` reports what is missing."""

from pathlib import Path

import pytest

from local.dashboard.__main__ import main


def test_without_a_running_stack_it_says_how_to_start_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(tmp_path) == 1
    assert "make run" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("period", ["0", "ten", "-1", "10801"])
def test_a_period_that_is_none_is_named(
    tmp_path: Path, period: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PERIOD", period)
    assert main(tmp_path) == 1
    assert f"PERIOD must be a number of seconds from 1 to 10800, got '{period}'" in capsys.readouterr().err


def test_a_url_left_by_a_stopped_stack_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "api-url").write_text("http://127.0.0.1:9/_aws/execute-api/x/v1\n")
    (tmp_path / "credentials").write_text(
        "[operator]\naws_access_key_id = a\naws_secret_access_key = b\nregion = us-east-1\n"
    )
    assert main(tmp_path) == 1
    assert "http://127.0.0.1:9" in capsys.readouterr().err
