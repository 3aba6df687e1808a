"""How far the children of an ended session are counted: each once, however often the work starts."""

from collections.abc import Sequence

from msgspec import Struct


class Erasure(Struct, frozen=True, kw_only=True):
    """``counted`` children, up to and with the sort key ``up_to``, are deleted or about to be.

    Written before the children are deleted: whoever takes up the work after a crash
    deletes those up to ``up_to`` that are still there, and counts only what lies behind.
    """

    counted: int = 0
    up_to: str = ""

    def counting(self, sks: Sequence[str]) -> "Erasure":
        """With those of the sort keys (in order) that are not counted yet."""
        new = [sk for sk in sks if sk > self.up_to]
        return Erasure(counted=self.counted + len(new), up_to=new[-1]) if new else self
