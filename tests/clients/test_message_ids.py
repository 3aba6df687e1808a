"""Ids are accepted by the store and sort in the order of minting."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from session_store.domain.identifiers import check_message_id, message_time
from session_store_client.message_ids import MessageIds


def test_the_store_takes_them_and_reads_their_time() -> None:
    minted = MessageIds().mint()
    assert check_message_id(minted, path="$") == minted
    assert abs(message_time(minted) - time.time() * 1000) < 60_000


def test_ids_rise_strictly_also_across_threads() -> None:
    ids = MessageIds()
    with ThreadPoolExecutor(8) as pool:
        parts = list(pool.map(lambda _: [ids.mint() for _ in range(500)], range(8)))
    assert all(part == sorted(part) for part in parts)
    assert len({each for part in parts for each in part}) == 4_000


def test_an_id_is_later_than_the_one_it_follows_and_the_next_is_of_its_own_time() -> None:
    ids, ahead = MessageIds(), MessageIds()
    ahead._last = (time.time_ns() // 1_000_000 + 240_000) << 12
    parent = ahead.mint()
    child = ids.mint(after=parent)
    assert message_time(child) == message_time(parent) + 1
    assert ids.mint(after=child) > child
    assert message_time(ids.mint()) < message_time(parent)


@pytest.mark.parametrize("after", ["", "k0", "ffffffff-ffff-7fff-bfff-ffffffffffff"])
def test_what_no_checkpoint_can_have_as_its_id_is_left_to_the_store_to_refuse(after: str) -> None:
    minted = MessageIds().mint(after=after)
    assert check_message_id(minted, path="$") == minted


def test_they_rise_when_the_clock_steps_back() -> None:
    ids = MessageIds()
    before = ids.mint()
    ids._last += 3_600_000 << 12
    assert ids.mint() > before
    assert message_time(ids.mint()) > message_time(before) + 3_500_000
