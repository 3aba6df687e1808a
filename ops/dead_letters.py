"""``python -m ops.dead_letters``: shows and redrives dead letters, with AWS credentials, without the API.

Prints what ``GET /ops/dlq`` and ``POST /ops/dlq/redrive`` answer. Exit status: 0 after ``look`` and after a
redrive that leaves no letters, 1 if letters remain, 2 on failure.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Final

import msgspec

from infra import names
from ops.deployed import OPERATOR, REFUSALS, NotDeployedError, environment, location_options
from session_api.answers import Answer
from session_api.dead_letter_answers import dead_letters_answer, redrive_answer
from session_api.lists import DEFAULT_LIMIT, MAX_LIMIT
from session_store.bootstrap import open_dead_letters
from session_store.deadline import Deadline
from session_store.domain.dead_letter import QueueName
from session_store.services.dead_letters import DONE, DeadLetters
from session_store.settings import read_redrive_settings, read_settings

REPLAY_SECONDS: Final = 120
"""How long to wait for the stream's consumer per batch; the API has less time for a request."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    try:
        dead_letters = open_queues(stage=options.stage, region=options.region)
        if options.command == "look":
            _print(dead_letters_answer(dead_letters.overview(OPERATOR, limit=options.max)))
            return 0
        queue = None if options.queue is None else QueueName(options.queue)
        answer = redrive_answer(dead_letters.redrive(OPERATOR, queue=queue, most=options.max))
    except REFUSALS as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    _print(answer)
    remaining = [letter for letter in answer.items if letter.outcome not in DONE]
    return 1 if remaining or answer.more else 0


def open_queues(*, stage: str, region: str) -> DeadLetters:
    """Open the dead-letter queues with the settings of the stage's API.

    Raises:
        NotDeployedError
    """
    variables = environment(stage=stage, region=region)
    redrive = read_redrive_settings(variables)
    if redrive is None:
        raise NotDeployedError(f"{names.regional_stack(stage, region)} has no dead-letter queues")
    return open_dead_letters(
        read_settings(variables), redrive, deadline=Deadline(), replay_seconds=REPLAY_SECONDS
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    shared = location_options()
    shared.add_argument(
        "--max",
        type=int,
        choices=range(1, MAX_LIMIT + 1),
        default=DEFAULT_LIMIT,
        metavar=f"1..{MAX_LIMIT}",
        help="at most this many letters (%(default)s)",
    )
    parser = argparse.ArgumentParser(
        prog="python -m ops.dead_letters", description="Show and redrive dead letters."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "look", parents=[shared], help="show the letters of both queues, without removing any"
    )
    redrive = commands.add_parser(
        "redrive", parents=[shared], help="process letters again and remove those that succeed"
    )
    redrive.add_argument("--queue", choices=[name.value for name in QueueName], help="only this queue")
    return parser.parse_args(arguments)


def _print(answer: Answer) -> None:
    print(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())


if __name__ == "__main__":
    sys.exit(main())
