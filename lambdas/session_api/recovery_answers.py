"""The response body about a session's recovery."""

from session_api.answers import Answer
from session_api.checkpoint_answers import CheckpointAnswer, checkpoint_answer
from session_api.running_call_answers import OpenCall, open_call_answer
from session_api.task_answers import OpenTask, open_task_answer
from session_store.services.recovery import RecoveryView


class RecoveryAnswer(Answer, frozen=True):
    """What a session has in flight, and the checkpoint to resume from."""

    in_flight: list[OpenCall]
    """Calls whose lease is running, or that may be begun again. The 100 oldest, oldest first."""

    outcome_unknown: list[OpenCall]
    """Calls that are not retry-safe and whose lease expired: reconcile them first. The 100 oldest."""

    open_tasks: list[OpenTask]
    """The session's 100 oldest open tasks, from an index that may lag a moment behind."""

    more: bool
    """Whether there are more calls or open tasks than these. Settle some, and read again."""

    checkpoint: CheckpointAnswer | None
    """The newest checkpoint of the namespace; null where there is none."""


def recovery_answer(found: RecoveryView) -> RecoveryAnswer:
    newest = found.checkpoint
    return RecoveryAnswer(
        in_flight=[open_call_answer(claim) for claim in found.in_flight],
        outcome_unknown=[open_call_answer(claim) for claim in found.outcome_unknown],
        open_tasks=[open_task_answer(task) for task in found.open_tasks],
        more=found.more,
        checkpoint=None if newest is None else checkpoint_answer(newest),
    )
