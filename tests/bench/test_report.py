"""Each benchmark has its section of the file, and leaves the others alone."""

from pathlib import Path

from bench.report import TITLE, publish, table


def test_a_table_has_heads_a_rule_and_rows() -> None:
    assert table(("", "result"), [("lag", "1 s")]) == "|  | result |\n| --- | --- |\n| lag | 1 s |"


def headings(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if line.startswith("#")]


def test_a_result_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "benchmarks.md"
    for name, results in (("Audit", "old"), ("Reads", "kept"), ("Audit", "new")):
        publish(name, command="make bench", about="about", results=results, file=file)
    assert file.read_text().startswith(TITLE)
    assert sorted(headings(file)) == ["# Benchmarks", "## Audit", "## Reads"]
    assert "old" not in file.read_text()
    assert "kept" in file.read_text()
    assert file.read_text().endswith("about\n\nnew\n")
