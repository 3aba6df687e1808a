"""The body of the answer about a session's recovery."""

from session_api.answers import Answer
from session_api.checkpoint_answers import CheckpointAnswer, checkpoint_answer
from session_api.running_call_answers import OpenCall, open_call
from session_api.task_answers import OpenTask, open_task
from session_store.services.recovery import RecoveryView


class RecoveryAnswer(Answer, frozen=True):
    """`inFlight`: being run, or to be begun again. `outcomeUnknown`: to be reconciled first.

    `openTasks` come from an index: what has just changed may be missing for a moment.
    """

    in_flight: list[OpenCall]
    outcome_unknown: list[OpenCall]
    open_tasks: list[OpenTask]
    checkpoint: CheckpointAnswer | None


def recovery_answer(found: RecoveryView) -> RecoveryAnswer:
    newest = found.checkpoint
    return RecoveryAnswer(
        in_flight=[open_call(claim) for claim in found.in_flight],
        outcome_unknown=[open_call(claim) for claim in found.outcome_unknown],
        open_tasks=[open_task(task) for task in found.open_tasks],
        checkpoint=None if newest is None else checkpoint_answer(newest),
    )
