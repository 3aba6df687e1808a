"""Ids are accepted by the store and sort in the order of minting."""

import time
from concurrent.futures import ThreadPoolExecutor

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


def test_they_rise_when_the_clock_steps_back() -> None:
    ids = MessageIds()
    before = ids.mint()
    ids._last += 3_600_000 << 12
    assert ids.mint() > before
    assert message_time(ids.mint()) > message_time(before) + 3_500_000
