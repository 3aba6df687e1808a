"""The command ``sessions``: list, show and follow sessions through the API.

Exit status: 0 on success, 1 when the API refused (such as for an unknown session), 2 when it could not be
called: a wrong option, no credentials, no response.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, TypeVar

from session_store_client.answers import Answer, ExpiringSession, SessionSummary
from session_store_client.cli.connection import (
    TOKEN_VARIABLE,
    URL_VARIABLE,
    ConnectionOptionsError,
    connect,
)
from session_store_client.cli.output import as_json, as_list, as_table
from session_store_client.cli.tail import KINDS, Tail
from session_store_client.client import Client
from session_store_client.errors import (
    CredentialsError,
    SessionStoreError,
    UnreachableError,
    UnreadableAnswerError,
)

REFUSED: Final = 1
NOT_CALLED: Final = 2
PAGE: Final = 100
STATUSES: Final = ("initializing", "active", "closing", "closed")
NO_ANSWER: Final = (CredentialsError, UnreachableError, UnreadableAnswerError)

AnswerT = TypeVar("AnswerT", bound=Answer)
Command = Callable[[Client, argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    run: Command = options.run
    where = ""
    try:
        connection = connect(options, os.environ)
        where = f"{connection.url}: "
        with connection.client() as client:
            run(client, options)
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe has closed it; the interpreter would fail to flush the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        return 0
    except (ConnectionOptionsError, ValueError, *NO_ANSWER) as error:
        return _failed(f"{where}{error}", NOT_CALLED)
    except SessionStoreError as error:
        return _failed(f"{where}{error}", REFUSED)
    return 0


def _failed(text: str, code: int) -> int:
    print(f"error: {text}", file=sys.stderr)
    return code


def _ls(client: Client, options: argparse.Namespace) -> None:
    sessions = client.list_sessions(status=options.status, limit=min(options.limit, PAGE))
    _print_all(islice(sessions, options.limit), _summary_row, json=options.json)


def _expiring(client: Client, options: argparse.Namespace) -> None:
    sessions = client.list_expiring(
        within_seconds=options.within, status=options.status, limit=min(options.limit, PAGE)
    )
    _print_all(islice(sessions, options.limit), _expiring_row, json=options.json)


def _show(client: Client, options: argparse.Namespace) -> None:
    session = client.get_session(options.session_id)
    print(as_json(session) if options.json else as_list(session))


def _tail(client: Client, options: argparse.Namespace) -> None:
    print(
        "note: reading a session keeps it alive, so it does not expire while it is followed", file=sys.stderr
    )
    tail = Tail(options.session_id, kinds=options.only or KINDS, json=options.json)
    tail.follow(client, last=options.last, every=options.every, seconds=options.seconds)


def _summary_row(session: SessionSummary) -> Mapping[str, str]:
    return {
        "SESSION": session.session_id,
        "STATUS": session.status,
        "SUBJECT": session.subject,
        "CREATED": session.created_at,
        "ENDS": session.expires_at,
    }


def _expiring_row(session: ExpiringSession) -> Mapping[str, str]:
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
    parser = argparse.ArgumentParser(
        prog="sessions", description="List, show and follow sessions of a session store."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    shared = [_shared()]
    ls = commands.add_parser("ls", parents=shared, help="list the caller's own sessions, newest first")
    _listing(ls, status=None)
    ls.set_defaults(run=_ls)
    show = commands.add_parser("show", parents=shared, help="show one session with its state")
    show.add_argument("session_id")
    show.set_defaults(run=_show)
    expiring = commands.add_parser(
        "expiring", parents=shared, help="for operators: list sessions of any tenant that expire soon"
    )
    _listing(expiring, status="active")
    expiring.add_argument(
        "--within",
        type=_whole(1, 7_776_000),
        default=900,
        metavar="SECONDS",
        help="expiring within this time (%(default)s)",
    )
    expiring.set_defaults(run=_expiring)
    tail = commands.add_parser(
        "tail", parents=shared, help="follow a session's messages, tool calls and audit; Ctrl-C stops"
    )
    _tailing(tail)
    tail.set_defaults(run=_tail)
    return parser


def _shared() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(add_help=False)
    target = options.add_mutually_exclusive_group()
    target.add_argument("--url", help=f"URL of the API, including its stage (or {URL_VARIABLE})")
    target.add_argument(
        "--local",
        nargs="?",
        const=".local",
        metavar="FOLDER",
        help="call the stack of `make run`, whose state is in FOLDER (.local)",
    )
    caller = options.add_mutually_exclusive_group()
    caller.add_argument("--profile", help="AWS profile to sign with (with --local: tenant-a)")
    caller.add_argument("--token", help=f"bearer token; {TOKEN_VARIABLE} keeps it out of the process list")
    options.add_argument("--region", help="region to sign for, if the URL does not name it")
    options.add_argument("--subject", help="end user to act for")
    options.add_argument(
        "--json", action="store_true", help="print one JSON object per line, as the API answers"
    )
    return options


def _listing(parser: argparse.ArgumentParser, *, status: str | None) -> None:
    parser.add_argument("--status", choices=STATUSES, default=status, help="only sessions in this status")
    parser.add_argument(
        "--limit", type=_whole(1, 10_000), default=20, metavar="N", help="at most this many (%(default)s)"
    )


def _tailing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("session_id")
    parser.add_argument(
        "--only", action="append", choices=KINDS, help="only this kind; can be repeated (all three)"
    )
    parser.add_argument(
        "--last", type=_whole(0, 1_000), default=10, metavar="N", help="entries to begin with (%(default)s)"
    )
    parser.add_argument(
        "--every", type=_whole(1, 60), default=2, metavar="SECONDS", help="polling interval (%(default)s)"
    )
    parser.add_argument(
        "--for",
        dest="seconds",
        type=_whole(0, 86_400),
        default=3_600,
        metavar="SECONDS",
        help="how long to follow; 0 polls once (%(default)s)",
    )


def _whole(low: int, high: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isascii() or not text.isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"must be a whole number from {low} to {high}, not {text!r}")
        return int(text)

    return number
