"""Progress of erasing the child items of an ended session, so that each is counted once."""

from collections.abc import Sequence

from msgspec import Struct


class Erasure(Struct, frozen=True, kw_only=True):
    """``counted`` children, up to and including the sort key ``up_to``, are deleted or about to be.

    It is written before the children are deleted. A retry after a crash deletes those up to ``up_to`` that
    are still there, and counts only the ones after it.
    """

    counted: int = 0
    up_to: str = ""

    def counting(self, sks: Sequence[str]) -> "Erasure":
        """The progress after counting the sort keys (in order) that are not counted yet."""
        new = [sk for sk in sks if sk > self.up_to]
        return Erasure(counted=self.counted + len(new), up_to=new[-1]) if new else self
