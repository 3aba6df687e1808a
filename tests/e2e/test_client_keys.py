"""What an ``Idempotency-Key`` makes of a lost answer, through the client and the deployed stack."""

import pytest

from session_store_client import Client
from tests.support.lossy_proxy import LossyProxy


@pytest.mark.parametrize("losses", [1, 2])
def test_an_increment_and_an_append_whose_answers_are_lost_are_done_once(
    proxy: LossyProxy, lossy: Client, losses: int
) -> None:
    session_id = lossy.create_session(state={"n": 1}).session_id
    proxy.forwarded.clear()
    proxy.losing = losses
    changed = lossy.change_state(session_id, increment={"n": 1}, append={"seen": ["hotel"]})
    assert (changed.state, changed.version) == ({"n": 2, "seen": ["hotel"]}, 2)
    assert lossy.get_session(session_id) == changed
    keys = [key for method, key in proxy.forwarded if method == "PATCH"]
    assert len(keys) == 1 + losses
    assert len(set(keys)) == 1


def test_two_increments_alike_are_two(proxy: LossyProxy, lossy: Client) -> None:
    session_id = lossy.create_session(state={"n": 0}).session_id
    for _ in range(2):
        proxy.losing = 1
        lossy.change_state(session_id, increment={"n": 1})
    assert lossy.get_session(session_id).state == {"n": 2}


def test_a_session_whose_answer_is_lost_is_made_once(proxy: LossyProxy, lossy: Client) -> None:
    proxy.losing = 1
    session = lossy.create_session()
    assert [each.session_id for each in lossy.list_sessions()] == [session.session_id]
