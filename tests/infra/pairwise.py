"""Ten configurations in which every two settings of different options meet that may meet.

A new option is a factor more, and a number more at the end of each row; test_pairwise names the pairs that
are then missing.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

from tests.infra.conftest import REGIONS, TOKENS

Context = Mapping[str, object]

FACTORS: Final[Mapping[str, tuple[Context, ...]]] = {
    "regions": ({"regions": REGIONS[0]}, {"regions": ",".join(REGIONS)}),
    "profile": ({"stage": "dev"}, {"stage": "prod"}),
    "encryption": tuple({"encryption": key} for key in ("aws_owned", "aws_managed", "customer_managed")),
    "cache": (
        {"daxNodes": 0},
        {"daxNodes": 1, "egress": "isolated"},
        {"daxNodes": 3, "egress": "nat"},
    ),
    "retain": ({"retain": False}, {"retain": True}),
    "webAcl": ({"webAcl": False}, {"webAcl": True}),
    "alarmTopic": ({"alarmTopic": False}, {"alarmTopic": True, "alarmEmails": "ops@example.com"}),
    "routeMetrics": ({"routeMetrics": False}, {"routeMetrics": True}),
    "kinesisStream": ({"kinesisStream": False}, {"kinesisStream": True}),
    "auditExport": ({"auditExport": "none"}, {"auditExport": "daily"}),
    "censusMinutes": ({"censusMinutes": 0}, {"censusMinutes": 15}),
    "callerAccounts": ({"callerAccounts": ""}, {"callerAccounts": "444455556666"}),
    "revocation": (
        {"revocationEndpoint": ""},
        {"revocationEndpoint": "https://idp.example.com/revoke", "revocationClientSecret": "client"},
    ),
    "delegates": ({"delegates": ""}, {"delegates": "111122223333:role/gateway"}),
    "account": ({"account": ""}, {"account": "111122223333"}),
    "auth": ({"auth": "iam"}, TOKENS),
    "largePayloads": ({"largePayloads": True}, {"largePayloads": False}),
}
"""The settings of each option that are told apart, as context."""

APART: Final = (
    # An isolated cache would not reach another region.
    {("regions", 1), ("cache", 1)},
    # Whoever shows a token names nobody else, and belongs to no account.
    {("auth", 1), ("callerAccounts", 1)},
    {("auth", 1), ("delegates", 1)},
)
"""Settings that no deployment may have together."""

Row = tuple[int, ...]
"""Of each factor, in their order, which setting."""

Pair = tuple[tuple[str, int], tuple[str, int]]

ROWS: Final[tuple[Row, ...]] = (
    (0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0),
    (0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1),
    (1, 0, 2, 2, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0),
    (0, 1, 1, 2, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0),
    (1, 0, 2, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 0, 0, 1, 0),
    (1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1),
    (0, 1, 0, 2, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0, 1),
    (0, 1, 2, 1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1),
    (0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1),
    (1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0),
)


def context(row: Row) -> dict[str, object]:
    settings = (factor[number] for factor, number in zip(FACTORS.values(), row, strict=True))
    return {name: value for setting in settings for name, value in setting.items()}


def pairs(row: Row) -> Iterator[Pair]:
    yield from itertools.combinations(zip(FACTORS, row, strict=True), 2)


def is_allowed(pair: Pair) -> bool:
    return set(pair) not in APART


def all_pairs() -> set[Pair]:
    levels = [(name, number) for name, settings in FACTORS.items() for number in range(len(settings))]
    return {
        (one, other)
        for one, other in itertools.combinations(levels, 2)
        if one[0] != other[0] and is_allowed((one, other))
    }
