"""How a step of the claim machine is written: optimistically, and judged again after a conflict."""

from collections.abc import Callable
from typing import Final

from session_store.domain.claim import ClaimGuard, ClaimT, Step
from session_store.errors import ThrottledError
from session_store.ports import Refused

MAX_CONFLICT_ATTEMPTS: Final = 8
"""How often a step is judged and written before concurrent writes of the same item make it give up."""


def apply_step(
    judge: Callable[[ClaimT | None], Step[ClaimT]],
    put: Callable[[ClaimT, ClaimGuard], Refused[ClaimT] | None],
    stored: ClaimT | None,
) -> Step[ClaimT]:
    """Judge the stored claim and write the step; where the write is refused, judge what is stored instead.

    Raises:
        StoreError: raised by ``judge``.
        ThrottledError: the claim changed at every attempt.
    """
    for _ in range(MAX_CONFLICT_ATTEMPTS):
        step = judge(stored)
        if step.guard is None:
            return step
        refused = put(step.claim, step.guard)
        if refused is None:
            return step
        stored = refused.held
    raise ThrottledError
