"""``python -m bench.costs``: write docs/costs.md, what the store costs, from measured operations.

It runs the functions in this process on an emulator of its own. Units are those of DynamoDB's responses.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bench.fixed_costs import CENSUSES, ENTRY_BYTES, Fixed, census, sheet
from bench.ground import AUDIT_TABLE, TABLE
from bench.lives import ACCESS_LOG_BYTES, AUDIT_MONTHS, LIFE, TRACED, Row, rows
from bench.played import Played
from bench.prices import AS_OF, MILLION, PRICES, Meter, Usage, break_even_hits, total
from bench.report import table
from bench.spending import (
    OWN_SECONDS,
    PLATFORM_LOG_BYTES,
    RECORDS_A_BATCH,
    ROUND_TRIP_SECONDS,
)
from bench.task_workload import task_rows
from infra.logged_function import MEMORY_MIB
from local.emulator import running
from local.loopback import free_port
from session_store.schema import DUE_INDEX, OPEN_INDEX, OWNER_INDEX, QUEUE_INDEX, STATUS_TTL_INDEX

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "costs.md"
TEMPLATE: Final = Path(__file__).resolve().parent / "costs.template.md"
PLACES: Final[Mapping[str, Sequence[str]]] = {
    "table": (TABLE,),
    STATUS_TTL_INDEX.name: (STATUS_TTL_INDEX.name,),
    OWNER_INDEX.name: (OWNER_INDEX.name,),
    "task indexes": (QUEUE_INDEX.name, OPEN_INDEX.name, DUE_INDEX.name),
    "audit": (AUDIT_TABLE,),
}
"""Columns of write units, and the tables and indexes in each."""

LAMBDA: Final = (Meter.INVOCATION, Meter.GB_SECOND)
OBSERVED: Final = (Meter.LOG_GB, Meter.TRACE)
QUEUED: Final = (Meter.QUEUE, Meter.EVENT)
IN_S3: Final = (Meter.OBJECT_WRITE, Meter.OBJECT_READ)
KEPT: Final = (Meter.STORED, Meter.RECOVERABLE)
REPLICATED: Final = (Meter.WRITE, *KEPT)
"""What each further region is billed for again."""

DAX_NODES: Final = 3


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "emulator", port=free_port()) as emulator,
    ):
        played = Played(emulator, Path(folder))
        requests, lives = rows(played)
        requests += task_rows(played)
        a_run = played.watched().usage()
    text = page(requests, lives, sheet(a_run=a_run))
    PAGE.write_text(text)
    print(text)


def page(requests: Sequence[Row], lives: Sequence[Row], fixed: Mapping[str, Sequence[Fixed]]) -> str:
    (session,) = (life for life in lives if life.label == LIFE)
    return TEMPLATE.read_text().format(
        units=_units([*requests, *lives]),
        requests=_bill(requests),
        lives=_bill(lives),
        session=f"{session.usage.dollars() * MILLION:.0f}",
        calls=session.calls,
        fixed=_fixed(fixed),
        census=_census(),
        entry=ENTRY_BYTES,
        prices=_prices(),
        as_of=AS_OF,
        memory=MEMORY_MIB,
        own=f"{OWN_SECONDS * 1000:g}",
        trip=f"{ROUND_TRIP_SECONDS * 1000:g}",
        batch=RECORDS_A_BATCH,
        access=ACCESS_LOG_BYTES,
        platform=PLATFORM_LOG_BYTES,
        traced=f"{TRACED:.0%}",
        months=AUDIT_MONTHS,
        web_call=f"{Usage({Meter.WEB_CALL: MILLION}).dollars():.2f}",
        nodes=DAX_NODES,
        node=f"{PRICES[Meter.DAX_HOUR].dollars:g}",
        read=f"{Usage({Meter.READ: MILLION}).dollars():g}",
        eventual=f"{break_even_hits(nodes=DAX_NODES, units_a_read=0.5):,.0f}",
        consistent=f"{break_even_hits(nodes=DAX_NODES, units_a_read=1):,.0f}",
    )


def _units(priced: Sequence[Row]) -> str:
    heads = (
        "",
        "round trips",
        "read units",
        *(f"write units, {place}" for place in PLACES),
        "write units, afterwards",
    )
    return table(heads, [_units_of(row) for row in priced])


def _units_of(row: Row) -> Sequence[str]:
    written = (sum(row.api.writes[name] for name in names) for names in PLACES.values())
    numbers = (row.api.round_trips, row.api.reads, *written, row.after.of(Meter.WRITE))
    return (row.label, *(f"{number:.4g}" for number in numbers))


def _bill(priced: Sequence[Row]) -> str:
    metered = ("writes", "reads", "gateway", "Lambda", "queue, bus", "S3", "logs, traces", "storage")
    columns = ((Meter.WRITE,), (Meter.READ,), (Meter.CALL,), LAMBDA, QUEUED, IN_S3, OBSERVED, KEPT)
    return table(
        ("", *metered, "**all**", "each further region"),
        [
            (
                row.label,
                *(_dollars(row.usage, *meters) for meters in columns),
                f"**{_dollars(row.usage)}**",
                _dollars(row.usage, *REPLICATED),
            )
            for row in priced
        ],
    )


def _dollars(usage: Usage, *meters: Meter) -> str:
    """Dollars per million."""
    return f"{usage.dollars(*meters) * MILLION:.2f}"


def _fixed(deployments: Mapping[str, Sequence[Fixed]]) -> str:
    names = [fixed.name for fixed in next(iter(deployments.values()))]
    by_name = {
        deployment: {fixed.name: fixed for fixed in sheet} for deployment, sheet in deployments.items()
    }
    lines = [(name, *(_counted(found[name]) for found in by_name.values())) for name in names]
    sums = (total(fixed.usage for fixed in sheet).dollars() for sheet in deployments.values())
    return table(("per month", *deployments), [*lines, ("**all**", *(f"**${each:.2f}**" for each in sums))])


def _counted(fixed: Fixed) -> str:
    return f"{fixed.count:,.0f}: ${fixed.usage.dollars():.2f}" if fixed.count else ""


def _census() -> str:
    usages = {minutes: census(minutes=minutes, living=MILLION) for minutes in CENSUSES}
    lines = [
        (f"{minutes}", f"{usage.of(Meter.READ):,.0f}", f"${usage.dollars():.2f}")
        for minutes, usage in usages.items()
    ]
    return table(("`censusMinutes`", "read units", "per month and region"), lines)


def _prices() -> str:
    lines = [
        (meter.value, f"${price.dollars:.10g}", f"{price.units:,}", price.source)
        for meter, price in PRICES.items()
    ]
    return table(("", "price", "per", "source"), lines)


if __name__ == "__main__":
    main()
