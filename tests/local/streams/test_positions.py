"""Positions and swept records outlive the process that wrote them."""

import threading
from pathlib import Path

from local.streams.positions import Position, Positions
from local.streams.swept import RETENTION_SECONDS, SweptRecords

STREAM = "arn:aws:dynamodb:us-east-1:000000000000:table/sessions/stream/2027"


def test_positions_are_found_again_by_mapping_and_shard(tmp_path: Path) -> None:
    first = Positions(tmp_path / "positions.json")
    first.keep("audit", {"shard-1": Position(after="7", finished=True)})
    first.keep("audit", {"shard-2": Position(after="9")})
    first.keep("other", {"shard-1": Position()})
    again = Positions(tmp_path / "positions.json")
    assert again.of("audit") == {
        "shard-1": Position(after="7", finished=True),
        "shard-2": Position(after="9"),
    }
    assert again.of("other") == {"shard-1": Position()}
    assert again.of("new") == {}


def test_a_swept_record_is_known_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "swept.jsonl"
    with SweptRecords(file).sweeping() as note:
        note(STREAM, "7")
    again = SweptRecords(file)
    assert again.holds(STREAM, "7")
    assert not again.holds(STREAM, "8")
    assert not again.holds(f"{STREAM}-other", "7")


def test_a_line_cut_short_by_a_crash_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "swept.jsonl"
    with SweptRecords(file).sweeping() as note:
        note(STREAM, "7")
    with file.open("a") as cut:
        cut.write('["arn:aws')
    assert SweptRecords(file).holds(STREAM, "7")


def test_a_note_goes_when_the_stream_keeps_its_record_no_more(tmp_path: Path) -> None:
    file = tmp_path / "swept.jsonl"
    with SweptRecords(file, now=lambda: 1000.0).sweeping() as note:
        note(STREAM, "7")
    assert not SweptRecords(file, now=lambda: 1001.0 + RETENTION_SECONDS).holds(STREAM, "7")
    assert file.read_text() == ""


def test_who_asks_while_a_deletion_is_under_way_waits_for_its_note(tmp_path: Path) -> None:
    swept = SweptRecords(tmp_path / "swept.jsonl")
    answers: list[bool] = []
    with swept.sweeping() as note:
        asking = threading.Thread(target=lambda: answers.append(swept.holds(STREAM, "7")))
        asking.start()
        asking.join(0.05)
        assert answers == []
        note(STREAM, "7")
    asking.join(60)
    assert answers == [True]
