"""Request bodies of operators."""

from typing import Annotated

import msgspec

from session_api.bodies import Body
from session_store.domain.window import LONGEST_LIFE


class DrainSessions(Body, frozen=True):
    """Which sessions are moved to `closing`."""

    within_seconds: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_LIFE)]
    """Those that expire within so many seconds."""
