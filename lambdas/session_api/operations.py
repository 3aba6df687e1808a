"""The operations of the API: declared once, served by the resolver, described by the OpenAPI document."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct, field

from session_api import problems
from session_api.problems import Problem
from session_api.requests import Request
from session_store.metric_names import Metric


class Parameter(Struct, frozen=True, kw_only=True):
    """A query parameter as the document describes it; the route judges it."""

    name: str
    schema: dict[str, Any]
    description: str


class Reply(Struct, frozen=True, kw_only=True):
    """What a route answers; ``value`` None is an empty body.

    ``done``: how many of what its operation counts are new by this request; ``replayed``: how many were
    there already. ``beside``: what else is new.
    """

    value: msgspec.Struct | None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    done: int = 1
    replayed: int = 0
    beside: Mapping[Metric, int] = field(default_factory=dict)


Run = Callable[[Request], Reply]


class Operation(Struct, frozen=True, kw_only=True):
    """One method of one path, which is in OpenAPI's form. ``statuses``: of success, the usual one first."""

    method: str
    path: str
    run: Run
    summary: str
    description: str
    body: type | None
    answer: type | None
    statuses: tuple[int, ...]
    query: tuple[Parameter, ...]
    problems: tuple[Problem, ...]
    conditional: bool
    keyed: bool
    anonymous: bool
    counts: Metric | None

    @property
    def name(self) -> str:
        return self.run.__name__


OPERATIONS: Final[list[Operation]] = []

SHARED_PROBLEMS: Final = (
    problems.INVALID,
    problems.UNAUTHENTICATED,
    problems.FORBIDDEN,
    problems.INTERNAL,
    problems.THROTTLED,
)


def operation(
    method: str,
    path: str,
    *,
    body: type | None = None,
    answer: type | None = None,
    statuses: tuple[int, ...] = (200,),
    query: tuple[Parameter, ...] = (),
    refusals: tuple[Problem, ...] = (),
    conditional: bool = False,
    keyed: bool = False,
    anonymous: bool = False,
    counts: Metric | None = None,
) -> Callable[[Run], Run]:
    """Declare a route. ``anonymous``: it needs no caller.

    ``conditional``: it takes If-Match; ``keyed``: it takes Idempotency-Key; ``counts``: what each reply adds
    its ``done`` to.
    """

    def declare(run: Run) -> Run:
        summary, _, description = inspect.cleandoc(run.__doc__ or "").partition("\n\n")
        shared = () if anonymous else SHARED_PROBLEMS
        once = (problems.MISMATCH,) if keyed else ()
        OPERATIONS.append(
            Operation(
                method=method,
                path=path,
                run=run,
                summary=summary,
                description=description,
                body=body,
                answer=answer,
                statuses=statuses,
                query=query,
                problems=(*shared, *refusals, *once),
                conditional=conditional,
                keyed=keyed,
                anonymous=anonymous,
                counts=counts,
            )
        )
        return run

    return declare
