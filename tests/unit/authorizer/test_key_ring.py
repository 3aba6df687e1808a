"""Keys are fetched when needed, and unknown key ids cannot make it more often."""

from collections.abc import Mapping
from typing import Any

import pytest

from authorizer.key_ring import (
    FAILURE_PAUSE_SECONDS,
    FRESH_SECONDS,
    STALE_SECONDS,
    UNKNOWN_KEY_PAUSE_SECONDS,
    KeyRing,
)
from session_store.errors import UnavailableError

OLD = {"kid": "old"}
NEW = {"kid": "new"}


class Issuer:
    """Has these keys, unless it is down; counts how often it was asked."""

    def __init__(self, *keys: Mapping[str, Any]) -> None:
        self.keys = keys
        self.is_down = False
        self.asked = 0
        self.now = 1000.0

    def fetch(self) -> Mapping[str, Mapping[str, Any]]:
        self.asked += 1
        if self.is_down:
            raise UnavailableError("down")
        return {key["kid"]: key for key in self.keys}

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def issuer() -> Issuer:
    return Issuer(OLD)


@pytest.fixture
def ring(issuer: Issuer) -> KeyRing:
    return KeyRing(fetch=issuer.fetch, monotonic=issuer.monotonic)


def test_keys_are_fetched_once_for_many_tokens(ring: KeyRing, issuer: Issuer) -> None:
    assert [ring.find("old") for _ in range(100)] == [OLD] * 100
    assert issuer.asked == 1


def test_a_rotated_key_is_found_by_one_fetch(ring: KeyRing, issuer: Issuer) -> None:
    ring.find("old")
    issuer.keys = (OLD, NEW)
    issuer.now += UNKNOWN_KEY_PAUSE_SECONDS
    assert [ring.find("new"), ring.find("new"), ring.find("old")] == [NEW, NEW, OLD]
    assert issuer.asked == 2


def test_made_up_ids_do_not_hammer_the_issuer(ring: KeyRing, issuer: Issuer) -> None:
    ring.find("old")
    for second in range(60):
        issuer.now = 1000.0 + second
        for number in range(50):
            assert ring.find(f"made-up-{second}-{number}") is None
    assert issuer.asked == 1 + 60 // UNKNOWN_KEY_PAUSE_SECONDS - 1


def test_a_withdrawn_key_is_accepted_until_the_next_fetch(ring: KeyRing, issuer: Issuer) -> None:
    ring.find("old")
    issuer.keys = (NEW,)
    issuer.now += FRESH_SECONDS - 1
    assert ring.find("old") == OLD
    issuer.now += 1
    assert ring.find("old") is None


def test_known_keys_outlive_a_short_outage_of_the_issuer(ring: KeyRing, issuer: Issuer) -> None:
    ring.find("old")
    issuer.is_down = True
    issuer.now += STALE_SECONDS - 1
    assert ring.find("old") == OLD
    issuer.now += 1
    with pytest.raises(UnavailableError):
        ring.find("old")


def test_an_unknown_key_id_is_unavailable_while_the_issuer_is(ring: KeyRing, issuer: Issuer) -> None:
    ring.find("old")
    issuer.is_down = True
    issuer.now += UNKNOWN_KEY_PAUSE_SECONDS
    with pytest.raises(UnavailableError):
        ring.find("new")
    assert ring.find("old") == OLD


def test_an_unavailable_issuer_is_asked_at_intervals(ring: KeyRing, issuer: Issuer) -> None:
    issuer.is_down = True
    for _ in range(100):
        with pytest.raises(UnavailableError):
            ring.find("old")
    assert issuer.asked == 1
    issuer.is_down = False
    issuer.now += FAILURE_PAUSE_SECONDS
    assert ring.find("old") == OLD
    assert issuer.asked == 2
