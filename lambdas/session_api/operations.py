"""The operations of the API: declared once, served by the resolver, described by the OpenAPI document."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypedDict, TypeVar, Unpack, overload

import msgspec
from msgspec import Struct, field

from session_api import problems
from session_api.problems import Problem
from session_api.requests import IDEMPOTENT_REPLAYED, Request
from session_store.metric_names import Metric

BodyT = TypeVar("BodyT")


class Parameter(Struct, frozen=True, kw_only=True):
    """A query parameter as the document describes it; the route parses it."""

    name: str
    schema: dict[str, Any]
    description: str


class Reply(Struct, frozen=True, kw_only=True):
    """The answer of a route; ``value`` None is an empty body.

    ``performed``: how many of the effects that its operation counts this request had. ``replayed``: how many
    an earlier request had. ``also_performed``: effects that other metrics count.
    """

    value: msgspec.Struct | None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    performed: int = 1
    replayed: int = 0
    also_performed: Mapping[Metric, int] = field(default_factory=dict)


def replay_header(*, replayed: bool) -> dict[str, str]:
    """The header that marks the replay of a request under an Idempotency-Key; empty for another answer."""
    return {IDEMPOTENT_REPLAYED: "true"} if replayed else {}


Route = Callable[[Request[BodyT]], Reply]

SHARED_PROBLEMS: Final = (
    problems.INVALID,
    problems.UNAUTHENTICATED,
    problems.FORBIDDEN,
    problems.TOO_LARGE,
    problems.INTERNAL,
    problems.THROTTLED,
)


class Traits(TypedDict, total=False):
    """What an operation may declare beside its body; see ``Operation``."""

    answer: type[msgspec.Struct]
    statuses: tuple[int, ...]
    query: tuple[Parameter, ...]
    refusals: tuple[Problem, ...]
    conditional: bool
    keyed: bool
    anonymous: bool
    counts: Metric


class Operation(Struct, frozen=True, kw_only=True):
    """One method of one path.

    ``statuses``: those of success, the usual one first. ``refusals``: problems beside those that all share.
    ``conditional``: it accepts If-Match; other writes refuse a version there. ``keyed``: it accepts an
    Idempotency-Key. ``anonymous``: it needs no caller. ``counts``: the metric that its replies add what they
    performed to.
    """

    method: str
    path: str
    route: Route[Any]
    body: type[Any] | None = None
    answer: type[msgspec.Struct] | None = None
    statuses: tuple[int, ...] = (200,)
    query: tuple[Parameter, ...] = ()
    refusals: tuple[Problem, ...] = ()
    conditional: bool = False
    keyed: bool = False
    anonymous: bool = False
    counts: Metric | None = None

    @property
    def name(self) -> str:
        return self.route.__name__

    @property
    def refuses_if_match(self) -> bool:
        return not self.conditional and self.method != "GET"

    @property
    def version_member(self) -> str | None:
        """The member of the body that says which version the session must have, if there is one."""
        members = getattr(self.body, "__struct_fields__", ())
        return "expectedVersion" if "expected_version" in members else None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every refusal that a caller may meet."""
        shared = () if self.anonymous else SHARED_PROBLEMS
        keyed = (problems.MISMATCH,) if self.keyed else ()
        return (*shared, *self.refusals, *keyed)


OPERATIONS: Final[list[Operation]] = []


@overload
def operation(method: str, path: str, **traits: Unpack[Traits]) -> Callable[[Route[None]], Route[None]]: ...


@overload
def operation(
    method: str, path: str, *, body: type[BodyT], **traits: Unpack[Traits]
) -> Callable[[Route[BodyT]], Route[BodyT]]: ...


def operation(
    method: str, path: str, *, body: type[Any] | None = None, **traits: Unpack[Traits]
) -> Callable[[Route[Any]], Route[Any]]:
    """Declare a route of an operation whose request body, if any, is a ``body``."""

    def declare(route: Route[Any]) -> Route[Any]:
        OPERATIONS.append(Operation(method=method, path=path, route=route, body=body, **traits))
        return route

    return declare
