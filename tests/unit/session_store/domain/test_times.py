"""Instants in milliseconds, ttl values in seconds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session_store.domain.times import end_of_second, from_iso, is_expired, iso, seconds

YEAR_1 = -62_135_596_800_000
LAST_OF_9999 = 253_402_300_799_999


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_769_848_200_123, "2026-01-31T08:30:00.123Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (LAST_OF_9999, "9999-12-31T23:59:59.999Z"),
        (YEAR_1, "0001-01-01T00:00:00.000Z"),
    ],
)
def test_an_instant_is_written_in_utc_with_milliseconds(at_ms: int, text: str) -> None:
    assert iso(at_ms) == text


@given(st.integers(YEAR_1, LAST_OF_9999))
def test_what_is_written_is_read_back(at_ms: int) -> None:
    assert from_iso(iso(at_ms)) == at_ms


@given(st.integers(YEAR_1, LAST_OF_9999), st.integers(YEAR_1, LAST_OF_9999))
def test_text_order_is_time_order(one: int, other: int) -> None:
    assert (one < other) == (iso(one) < iso(other))


@pytest.mark.parametrize(
    ("at_ms", "end"), [(0, 999), (999, 999), (1000, 1999), (-1, -1), (-1000, -1), (-1001, -1001)]
)
def test_a_second_ends_with_its_last_millisecond(at_ms: int, end: int) -> None:
    assert end_of_second(at_ms) == end
    assert seconds(end) == seconds(at_ms)


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("2026-01-31T09:30:00.123+01:00", 1_769_848_200_123),
        ("2026-01-31T08:30:00Z", 1_769_848_200_000),
        ("2026-01-31T08:30:00.123999Z", 1_769_848_200_123),
    ],
)
def test_any_time_with_a_zone_is_read(text: str, at_ms: int) -> None:
    assert from_iso(text) == at_ms


@pytest.mark.parametrize("text", ["", "yesterday", "2026-01-31T08:30:00", "2026-01-31", "1769848200"])
def test_a_time_without_a_zone_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"zone|isoformat"):
        from_iso(text)


def test_a_ttl_has_expired_from_its_own_second_on() -> None:
    assert not is_expired(1000, 999_999)
    assert is_expired(1000, 1_000_000)
    assert is_expired(1000, 1_000_999)
    assert is_expired(999, 1_000_000)
    assert seconds(999_999) == 999
