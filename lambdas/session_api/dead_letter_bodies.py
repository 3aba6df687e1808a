"""The request body that redrives dead letters."""

from typing import Annotated, Literal

import msgspec

from session_api.bodies import Body


class RedriveLetters(Body, frozen=True):
    """Which dead letters are processed again."""

    queue: Literal["stream", "cleanup"] | None = None
    """The dead-letter queue; absent: both."""

    max: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    """How many letters at most."""
