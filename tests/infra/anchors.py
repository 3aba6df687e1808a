"""The anchors of a Markdown page."""

import re
from pathlib import Path


def anchors(page: Path) -> list[str]:
    """The anchors of a page's headings as GitHub makes them: lower case, spaces as hyphens, the rest gone."""
    fenced, headings = False, []
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and re.match(r"#{1,6} ", line):
            headings.append(line.lstrip("#").strip().lower())
    return [re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings]
