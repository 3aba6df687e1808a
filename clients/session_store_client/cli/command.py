"""``sessions``: look at sessions through the API.

Ends with 0 when it was shown, with 1 when the API refused, as it does where there is no such session, and
with 2 when it could not be asked: a wrong option, no credentials, nobody there.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, TypeVar

from session_store_client.answers import Answer, ExpiringSession, SessionSummary
from session_store_client.cli.place import TOKEN_VARIABLE, URL_VARIABLE, PlaceError, connect
from session_store_client.cli.shown import as_json, as_list, as_table
from session_store_client.cli.tail import KINDS, Tail
from session_store_client.client import Client
from session_store_client.errors import (
    CredentialsError,
    SessionStoreError,
    UnreachableError,
    UnreadableAnswerError,
)

REFUSED: Final = 1
NOT_ASKED: Final = 2
PAGE: Final = 100
STATUSES: Final = ("initializing", "active", "closing", "closed")
NOBODY_ASKED: Final = (CredentialsError, UnreachableError, UnreadableAnswerError)

AnswerT = TypeVar("AnswerT", bound=Answer)
Command = Callable[[Client, argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    run: Command = options.run
    where = ""
    try:
        place = connect(options, os.environ)
        where = f"{place.url}: "
        with place.client() as client:
            run(client, options)
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has seen enough; what is left to flush goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 0
    except (PlaceError, ValueError, *NOBODY_ASKED) as error:
        return _failed(f"{where}{error}", NOT_ASKED)
    except SessionStoreError as error:
        return _failed(f"{where}{error}", REFUSED)
    return 0


def _failed(text: str, code: int) -> int:
    print(f"error: {text}", file=sys.stderr)
    return code


def _ls(client: Client, options: argparse.Namespace) -> None:
    found = client.list_sessions(status=options.status, limit=min(options.limit, PAGE))
    _print_all(islice(found, options.limit), _summary, json=options.json)


def _expiring(client: Client, options: argparse.Namespace) -> None:
    found = client.list_expiring(
        within_seconds=options.within, status=options.status, limit=min(options.limit, PAGE)
    )
    _print_all(islice(found, options.limit), _ending, json=options.json)


def _show(client: Client, options: argparse.Namespace) -> None:
    session = client.get_session(options.session_id)
    print(as_json(session) if options.json else as_list(session))


def _tail(client: Client, options: argparse.Namespace) -> None:
    print("note: a session that is read is in use, so following it keeps it alive", file=sys.stderr)
    tail = Tail(options.session_id, kinds=options.only or KINDS, json=options.json)
    tail.follow(client, last=options.last, every=options.every, seconds=options.seconds)


def _summary(session: SessionSummary) -> Mapping[str, str]:
    return {
        "SESSION": session.session_id,
        "STATUS": session.status,
        "SUBJECT": session.subject,
        "CREATED": session.created_at,
        "ENDS": session.expires_at,
    }


def _ending(session: ExpiringSession) -> Mapping[str, str]:
    return {
        "SESSION": session.session_id,
        "STATUS": session.status,
        "TENANT": session.tenant,
        "SUBJECT": session.subject,
        "ENDS": session.expires_at,
    }


def _print_all(items: Iterable[AnswerT], row: Callable[[AnswerT], Mapping[str, str]], *, json: bool) -> None:
    if json:
        for item in items:
            print(as_json(item))
        return
    print(as_table([row(item) for item in items]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="sessions", description="Look at sessions through the API.")
    commands = parser.add_subparsers(dest="command", required=True)
    shared = [_shared()]
    ls = commands.add_parser("ls", parents=shared, help="the caller's own sessions, newest first")
    _listing(ls, status=None)
    ls.set_defaults(run=_ls)
    show = commands.add_parser("show", parents=shared, help="one session with its state")
    show.add_argument("session_id")
    show.set_defaults(run=_show)
    expiring = commands.add_parser(
        "expiring", parents=shared, help="operators: whose end is near, of any tenant"
    )
    _listing(expiring, status="active")
    expiring.add_argument(
        "--within", type=_whole(1, 7_776_000), default=900, metavar="SECONDS", help="how near (%(default)s)"
    )
    expiring.set_defaults(run=_expiring)
    tail = commands.add_parser("tail", parents=shared, help="follow what comes to a session; Ctrl-C ends it")
    _tailing(tail)
    tail.set_defaults(run=_tail)
    return parser


def _shared() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(add_help=False)
    place = options.add_mutually_exclusive_group()
    place.add_argument("--url", help=f"of the API, its stage included (or {URL_VARIABLE})")
    place.add_argument(
        "--local", nargs="?", const=".local", metavar="FOLDER", help="the stack of `make run` (state: .local)"
    )
    caller = options.add_mutually_exclusive_group()
    caller.add_argument("--profile", help="of the AWS credentials that sign; with --local: tenant-a")
    caller.add_argument(
        "--token", help=f"a bearer token; {TOKEN_VARIABLE} keeps it out of the list of processes"
    )
    options.add_argument("--region", help="to sign for, where the URL does not say")
    options.add_argument("--subject", help="the end user to act for")
    options.add_argument("--json", action="store_true", help="a JSON line each, as the API answers")
    return options


def _listing(parser: argparse.ArgumentParser, *, status: str | None) -> None:
    parser.add_argument("--status", choices=STATUSES, default=status, help="of this status alone")
    parser.add_argument(
        "--limit", type=_whole(1, 10_000), default=20, metavar="N", help="the most (%(default)s)"
    )


def _tailing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session_id")
    parser.add_argument(
        "--only", action="append", choices=KINDS, help="one kind; may be given again (all three)"
    )
    parser.add_argument(
        "--last", type=_whole(0, 1_000), default=10, metavar="N", help="begin with so many (%(default)s)"
    )
    parser.add_argument(
        "--every", type=_whole(1, 60), default=2, metavar="SECONDS", help="how often to ask (%(default)s)"
    )
    parser.add_argument(
        "--for",
        dest="seconds",
        type=_whole(0, 86_400),
        default=3_600,
        metavar="SECONDS",
        help="how long to follow; 0 looks once (%(default)s)",
    )


def _whole(low: int, high: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isascii() or not text.isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"must be a whole number from {low} to {high}, not {text!r}")
        return int(text)

    return number
