"""Dead letters: what could not be processed in the background, and its redrive."""

from session_api import problems
from session_api.dead_letter_answers import (
    DeadLettersAnswer,
    RedriveAnswer,
    dead_letters_answer,
    redrive_answer,
)
from session_api.dead_letter_bodies import RedriveLetters
from session_api.lists import LIMIT, requested_limit
from session_api.operations import Reply, operation
from session_api.paths import DEAD_LETTERS, REDRIVE
from session_api.requests import Request
from session_store.domain.dead_letter import QueueName


@operation("GET", DEAD_LETTERS, answer=DeadLettersAnswer, query=(LIMIT,), refusals=(problems.NOT_FOUND,))
def list_dead_letters(request: Request[None]) -> Reply:
    """List letters of the dead-letter queues, and count the records in quarantine.

    Nothing is removed. `limit` holds for each queue. Needs the ops permission. 404 `not-found`: the
    deployment has no dead-letter queues.
    """
    overview = request.store.dead_letters().overview(request.caller, limit=requested_limit(request))
    return Reply(value=dead_letters_answer(overview))


@operation(
    "POST",
    REDRIVE,
    body=RedriveLetters,
    answer=RedriveAnswer,
    refusals=(problems.NOT_FOUND,),
)
def redrive_dead_letters(request: Request[RedriveLetters]) -> Reply:
    """Process dead letters again, and remove those that are done.

    Records of the stream are read again, as far as it still holds them (24 hours), and given to its consumer;
    sessions go back to the clean-up queue. A letter that is not done stays. Redriving twice does no harm:
    what a letter leads to is done once. Needs the ops permission.
    """
    queue = None if request.body.queue is None else QueueName(request.body.queue)
    report = request.store.dead_letters().redrive(request.caller, queue=queue, most=request.body.max)
    return Reply(value=redrive_answer(report))
