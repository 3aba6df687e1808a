"""The deadline of a request, and threads that are free from it."""

from concurrent.futures import ThreadPoolExecutor

from session_store.deadline import Deadline


def test_an_unset_deadline_is_unlimited() -> None:
    assert Deadline().remaining() == float("inf")


def test_a_deadline_passes() -> None:
    now = [100.0]
    deadline = Deadline(monotonic=lambda: now[0])
    deadline.expires_in(5)
    now[0] += 6
    assert deadline.remaining() == -1


def test_a_deadline_is_lifted_for_one_thread_until_its_block_ends() -> None:
    deadline = Deadline(monotonic=lambda: 0.0)
    deadline.expires_in(5)
    with ThreadPoolExecutor(1) as pool:
        with deadline.lifted():
            assert deadline.remaining() == float("inf")
            assert pool.submit(deadline.remaining).result() == 5
        assert deadline.remaining() == 5
