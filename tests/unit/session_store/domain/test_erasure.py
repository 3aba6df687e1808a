"""Each child is counted once."""

from hypothesis import given
from hypothesis import strategies as st

from session_store.domain.erasure import Erasure


def test_only_children_after_the_position_are_counted() -> None:
    once = Erasure().counting(["a", "b"])
    assert once == Erasure(counted=2, up_to="b")
    assert once.counting(["a", "b"]) == once
    assert once.counting(["b", "c"]) == Erasure(counted=3, up_to="c")
    assert once.counting([]) == once


@given(st.lists(st.text(min_size=1, max_size=3), unique=True), st.data())
def test_each_child_is_counted_once_however_often_the_work_restarts(
    sks: list[str], data: st.DataObject
) -> None:
    left = sorted(sks)
    erasure = Erasure()
    while left:
        page = left[: data.draw(st.integers(1, 4))]
        erasure = erasure.counting(page)
        deleted = page[: data.draw(st.integers(0, len(page)))] if data.draw(st.booleans()) else page
        left = [sk for sk in left if sk not in deleted]
    assert erasure.counted == len(sks)
