"""CDK context as this app reads it: each value is parsed, or refused with its name."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from constructs import Node

T = TypeVar("T")
M = TypeVar("M", bound=StrEnum)


class ConfigError(ValueError):
    """An invalid context value; the message has its name, the value and what is allowed."""

    def __init__(self, name: str, value: object, *, allowed: str) -> None:
        super().__init__(f"context '{name}' must be {allowed}, got {value!r}")
        self.name = name


class Context:
    """A value is text from ``-c`` or JSON from cdk.json."""

    def __init__(self, node: "Node") -> None:
        self._node = node

    def read(self, name: str, default: object, *, parse: Callable[[object], T], allowed: str) -> T:
        value = self._node.try_get_context(name)
        if value is None:
            value = default
        try:
            return parse(value)
        except ValueError as error:
            raise ConfigError(name, value, allowed=allowed) from error


def matching(pattern: re.Pattern[str]) -> Callable[[object], str]:
    def parse(value: object) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError(value)
        return value

    return parse


def member(members: type[M]) -> Callable[[object], M]:
    return lambda value: members(str(value))


def items(value: object) -> tuple[str, ...]:
    """A JSON list of strings, or strings separated by commas."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list):
        raise ValueError(value)  # noqa: TRY004 - ConfigError is made of ValueErrors alone
    return tuple(str(part).strip() for part in parts if part != "")


def optional(parse: Callable[[object], str]) -> Callable[[object], str | None]:
    return lambda value: parse(value) if value != "" else None


def flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return value == "true"
    raise ValueError(value)


def between(low: int, high: int) -> Callable[[object], int]:
    def parse(value: object) -> int:
        number = whole(value)
        if not low <= number <= high:
            raise ValueError(number)
        return number

    return parse


def each(parse: Callable[[object], T]) -> Callable[[object], tuple[T, ...]]:
    return lambda value: tuple(map(parse, items(value)))


def whole(value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value)
    # JSON numbers reach this process as floats.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise ValueError(value)
    return int(value)
