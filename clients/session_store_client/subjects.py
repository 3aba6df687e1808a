"""The end user that a backend acts for."""

import re
from typing import Final

_SUBJECT: Final = re.compile(r"(?!\.{1,2}\Z)[\x21-\x7e]{1,128}\Z")
NO_SUBJECT: Final = "-"


def validated_subject(subject: str | None) -> str | None:
    """Return ``subject`` if the store accepts it as a ``Session-Subject``.

    Raises:
        ValueError: it does not.
    """
    if subject is not None and (subject == NO_SUBJECT or not _SUBJECT.match(subject)):
        raise ValueError(
            "a subject must be 1 to 128 printable ASCII characters without spaces, and not -, . or .."
        )
    return subject
