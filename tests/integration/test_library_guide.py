"""What ``docs/library.md`` shows runs as it stands."""

import re
from pathlib import Path

import pytest

from infra import names
from session_store.settings import Settings

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "library.md").read_text()


@pytest.mark.usefixtures("dynamodb")
def test_the_example_of_the_guide_runs(tables: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    for named, there in (
        (names.audit_table("prod"), tables.audit_table),
        (names.session_table("prod"), tables.table),
    ):
        assert f'"{named}"' in example
        example = example.replace(f'"{named}"', f'"{there}"')
    exec(compile(example, "docs/library.md", "exec"), {})  # noqa: S102 - the guide is this project's own
    assert capsys.readouterr().out == "somebody was faster: 3\ngone\n"
