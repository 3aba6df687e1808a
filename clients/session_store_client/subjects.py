"""Whom a backend acts for."""

import re
from typing import Final

_SUBJECT: Final = re.compile(r"(?!\.{1,2}\Z)[\x21-\x7e]{1,128}\Z")
NOBODY: Final = "-"


def checked_subject(subject: str | None) -> str | None:
    """Raises:
    ValueError: the store takes no such name; no header can hold some of them.
    """
    if subject is not None and (subject == NOBODY or not _SUBJECT.match(subject)):
        raise ValueError("a subject is 1 to 128 printable ASCII characters without space, and not -, . or ..")
    return subject
