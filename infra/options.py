"""Settings of a deployment as data: name in CDK context, allowed values, defaults, description.

A setting is declared once, as a field of ``Config``. Reading, validating and documenting it follow from that.
"""

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from infra.context import ConfigError, Context

if TYPE_CHECKING:
    from constructs import Node

T = TypeVar("T")

_OPTION: Final = "option"
_FOREIGN: Final = frozenset("@:")
"""Every context name of CDK, its libraries and the CLI has one of these characters; ours have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """``dev`` and ``prod`` are the defaults of the profiles, in the form that context values have."""

    name: str
    parse: Callable[[object], Any]
    allowed: str
    dev: object
    prod: object
    about: str

    def default(self, profile: str) -> object:
        return self.prod if profile == "prod" else self.dev


def option(
    name: str,
    *,
    parse: Callable[[object], T],
    allowed: str,
    about: str,
    default: object = None,
    dev: object = None,
    prod: object = None,
) -> T:
    """A field of a frozen configuration, with one ``default`` or one per profile.

    ``{stage}`` in a default stands for the stage's name. The return type is that of ``parse``, as for the
    fields of data classes.
    """
    declared = Option(
        name=name,
        parse=parse,
        allowed=allowed,
        about=about,
        dev=default if dev is None else dev,
        prod=default if prod is None else prod,
    )
    field: T = dataclasses.field(metadata={_OPTION: declared})
    return field


def options(configuration: type) -> Mapping[str, Option]:
    """The declared options by field name, in order."""
    return {field.name: field.metadata[_OPTION] for field in dataclasses.fields(configuration)}


def read(configuration: type, node: "Node", *, profile: str, stage: str) -> Mapping[str, Any]:
    """The fields' values. Raises ``ConfigError`` for the first that is not allowed."""
    context = Context(node)

    def value(declared: Option) -> object:
        default = declared.default(profile)
        if isinstance(default, str):
            default = default.replace("{stage}", stage)
        return context.read(declared.name, default, parse=declared.parse, allowed=declared.allowed)

    return {field: value(declared) for field, declared in options(configuration).items()}


def refuse_unknown(node: "Node", *, known: Iterable[str]) -> None:
    """Refuse unknown names: a misspelled setting would be ignored, and its default deployed.

    Raises:
        ConfigError
    """
    names = list(known)
    for name, value in dict(node.get_all_context()).items():
        if name in names or _FOREIGN & set(name):
            continue
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"named '{near[0]}'" if near else f"one of {', '.join(names)}"
        raise ConfigError(name, value, allowed=hint)
