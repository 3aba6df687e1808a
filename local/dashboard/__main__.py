"""``python -m local.dashboard``: draws the running stack's dashboard into ``.local/dashboard.html``."""

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
from local.dashboard.page import page, summary_line
from local.dashboard.rendering import render_panels
from local.dashboard.sources import ClientFactory, LocalStack, Window
from local.deployment import DEPLOYED_TEMPLATES
from local.emulator import ACCOUNT
from local.streams.templates import read_stacks

PAGE: Final = "dashboard.html"
SHOWN_SECONDS: Final = 3 * 3600
"""As in the deployed dashboard."""

ONCE: Final = Config(retries={"total_max_attempts": 1})
"""On loopback, a server that does not answer is not running."""

YOUNG_SECONDS: Final = 30 * 60
FINE_SECONDS: Final = 10
"""The period for a young stack: with the dashboard's own, all its metrics would be one point."""


def main(state: Path = STATE) -> int:
    """Draw the page. Returns 1, with a message on standard error, if there is nothing to draw."""
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
    """Return the page and a line that summarises it.

    Raises:
        BodyError
    """
    source = LocalStack.read(client)
    window = _window(source, period=period)
    rendered = render_panels(panels(read_stacks(templates), account=ACCOUNT), source=source, window=window)
    return page(rendered, window=window, unreadable=source.counted.unreadable), summary_line(rendered)


def _window(source: LocalStack, *, period: int | None) -> Window:
    """Return the time the dashboard shows, or the part of it since the first metric."""
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
        raise ValueError(f"PERIOD must be a number of seconds from 1 to {SHOWN_SECONDS}, got {value!r}")
    return int(value) if value else None


if __name__ == "__main__":
    sys.exit(main())
