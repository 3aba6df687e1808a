"""The body of a request that redrives dead letters."""

from typing import Annotated, Literal

import msgspec

from session_api.bodies import Body


class RedriveLetters(Body, frozen=True):
    """Both queues where ``queue`` names none; ``max`` letters at the most."""

    queue: Literal["stream", "cleanup"] | None = None
    max: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
