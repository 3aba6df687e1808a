"""``python -m local.dashboard``: the running stack's dashboard, drawn into ``.local/dashboard.html``."""

import os
import sys
import time
from pathlib import Path
from typing import Final

from botocore.config import Config
from botocore.exceptions import EndpointConnectionError

from local.access import STATE, Access, NotRunningError
from local.credentials import OPERATOR
from local.dashboard.body import BodyError, panels
from local.dashboard.page import page, told
from local.dashboard.shown import show
from local.dashboard.sources import ClientFactory, LocalStack, Window
from local.deployment import DEPLOYED_TEMPLATES
from local.emulator import ACCOUNT
from local.streams.templates import read_stacks

PAGE: Final = "dashboard.html"
SHOWN_SECONDS: Final = 3 * 3600
"""As the deployed dashboard opens."""

ONCE: Final = Config(retries={"total_max_attempts": 1})
"""Who does not answer on loopback is not there."""

YOUNG_SECONDS: Final = 30 * 60
FINE_SECONDS: Final = 10
"""The period of a page whose stack is young: with the dashboard's own, all of it would be one point."""


def main(state: Path = STATE) -> int:
    """1 where there is nothing to draw, said on standard error."""
    try:
        period = _period()
        client = _client(state)
        drawn, summary = render(client, templates=state / DEPLOYED_TEMPLATES, period=period)
    except (BodyError, NotRunningError, EndpointConnectionError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    (state / PAGE).write_text(drawn)
    print(f"{summary}\n{state / PAGE}")
    return 0


def render(client: ClientFactory, *, templates: Path, period: int | None = None) -> tuple[str, str]:
    """The page, and its summary in a line. Raises ``BodyError``."""
    source = LocalStack.read(client)
    window = _window(source, period=period)
    shown = show(panels(read_stacks(templates), account=ACCOUNT), source=source, window=window)
    return page(shown, window=window, unreadable=source.counted.unreadable), told(shown)


def _window(source: LocalStack, *, period: int | None) -> Window:
    """The time that the dashboard shows, or of it the part in which there was anything."""
    end = time.time()
    start = max(end - SHOWN_SECONDS, source.began - 60 if source.began is not None else 0)
    if period is None and end - start < YOUNG_SECONDS:
        period = FINE_SECONDS
    return Window(start=start, end=end, period=period)


def _client(state: Path) -> ClientFactory:
    operator = Access.read(state).principal(OPERATOR)
    return lambda service: operator.client(service, config=ONCE)


def _period() -> int | None:
    value = os.environ.get("PERIOD", "")
    if value and not (value.isdecimal() and 1 <= int(value) <= SHOWN_SECONDS):
        raise ValueError(f"PERIOD must be seconds from 1 to {SHOWN_SECONDS}, got {value!r}")
    return int(value) if value else None


if __name__ == "__main__":
    sys.exit(main())
