"""Answers formatted for a terminal or as JSON."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from session_store_client.answers import Answer

_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")


def as_json(value: object) -> str:
    """Format as one line of JSON, as the API answers."""
    return _ENCODER.encode(value).decode()


def as_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Format rows as aligned columns under their names, with control characters escaped."""
    if not rows:
        return "none"
    lines = [list(rows[0]), *([printable(cell) for cell in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def as_list(answer: Answer) -> str:
    """Format one member per line, under its name in the API."""
    members = {field.encode_name: getattr(answer, field.name) for field in msgspec.structs.fields(answer)}
    width = max(map(len, members))
    return "\n".join(f"{name.ljust(width)}  {_member(value)}" for name, value in members.items())


def _member(value: object) -> str:
    return printable(value if isinstance(value, str) else as_json(value))


def printable(text: str) -> str:
    """Escape control characters: contents of sessions are untrusted and must not control a terminal."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
