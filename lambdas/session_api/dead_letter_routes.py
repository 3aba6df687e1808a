"""``/ops/dlq``"""

from session_api import problems
from session_api.dead_letter_answers import (
    DeadLettersAnswer,
    RedriveAnswer,
    dead_letters_answer,
    redrive_answer,
)
from session_api.dead_letter_bodies import RedriveLetters
from session_api.lists import DEFAULT_LIMIT, LIMIT, MAX_LIMIT
from session_api.operations import Reply, operation
from session_api.requests import Request
from session_store.domain.dead_letter import QueueName


@operation("GET", "/ops/dlq", answer=DeadLettersAnswer, query=(LIMIT,), refusals=(problems.NOT_FOUND,))
def list_dead_letters(request: Request) -> Reply:
    """Look at the dead letters of the stream and of the clean-up; all of them stay."""
    limit = request.query.whole("limit", default=DEFAULT_LIMIT, low=1, high=MAX_LIMIT)
    overview = request.store.dead_letters().overview(request.caller, limit=limit)
    return Reply(value=dead_letters_answer(overview))


@operation(
    "POST",
    "/ops/dlq/redrive",
    body=RedriveLetters,
    answer=RedriveAnswer,
    refusals=(problems.NOT_FOUND, problems.TOO_LARGE),
)
def redrive_dead_letters(request: Request) -> Reply:
    """Do again what dead letters tell of, and remove those of which nothing is left to do."""
    queue = None if request.body.queue is None else QueueName(request.body.queue)
    report = request.store.dead_letters().redrive(request.caller, queue=queue, most=request.body.max)
    return Reply(value=redrive_answer(report))
