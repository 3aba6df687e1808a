"""The demo plays against stacks whose callers sign, and says so where they do not."""

from pathlib import Path

import pytest

from local.access import ISSUER_URL
from local.demo import __main__ as demo


def test_where_callers_show_tokens_the_demo_says_what_it_wants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ISSUER_URL).write_text("http://127.0.0.1:1")
    monkeypatch.setattr(demo, "STATE", tmp_path)
    assert demo.main() == 1
    assert "start it without AUTH=jwt" in capsys.readouterr().err
