"""Operations on a session's state that need no lock: each is right whatever was written before it."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Context, Decimal, Inexact
from typing import Any, Final

from msgspec import Struct, field

from session_store.domain.fingerprints import Members, present_members
from session_store.domain.json_values import JsonValue, check, check_key, normal_number
from session_store.errors import InvalidRequestError

MAX_KEYS: Final = 50
_SUM: Final = Context(prec=38, Emax=999_999, Emin=-999_999, traps=[Inexact])


class StateOperations(Struct, frozen=True, kw_only=True):
    """``set``, ``remove``, ``increment`` and ``append`` on top-level keys of the state."""

    set: Mapping[str, JsonValue] = field(default_factory=dict)
    remove: Sequence[str] = ()
    increment: Mapping[str, int | Decimal] = field(default_factory=dict)
    append: Mapping[str, Sequence[JsonValue]] = field(default_factory=dict)

    @property
    def repeats_harmlessly(self) -> bool:
        """Whether applying it twice is the same as applying it once."""
        return not (self.increment or self.append)

    @property
    def members(self) -> Members:
        """The operations as a fingerprint covers them."""
        return present_members(
            {},
            {
                "set": (self.set, {}),
                "remove": (list(self.remove), []),
                "increment": (self.increment, {}),
                "append": (self.append, {}),
            },
        )


def check_operations(operations: StateOperations, *, at: str = "$") -> StateOperations:
    """The operations, if their values can be stored and they have 1 to 50 keys, each once.

    ``at`` is their path in the body.

    Raises:
        InvalidRequestError: names the path. (DynamoDB refuses overlapping paths too, but does not say where,
            and the emulator accepts them.)
    """
    _check_values(operations, at)
    keys: set[str] = set()
    for operation, key in _targets(operations):
        if key in keys:
            raise InvalidRequestError("A key may be in only one operation", path=f"{at}.{operation}.{key}")
        keys.add(key)
    if not keys:
        raise InvalidRequestError("At least one of set, remove, increment, append must name a key", path=at)
    if len(keys) > MAX_KEYS:
        detail = f"At most {MAX_KEYS} keys in one request, not {len(keys)}"
        raise InvalidRequestError(detail, path=at, limit=MAX_KEYS)
    return operations


def _targets(operations: StateOperations) -> Iterator[tuple[str, str]]:
    for operation in ("set", "remove", "increment", "append"):
        yield from ((operation, key) for key in getattr(operations, operation))


def _check_values(operations: StateOperations, at: str) -> None:
    for key, amount in operations.increment.items():
        if isinstance(amount, bool) or not isinstance(amount, int | Decimal):
            raise InvalidRequestError("An increment must be a number", path=f"{at}.increment.{key}")
    for key, items in operations.append.items():
        if not isinstance(items, list | tuple):
            raise InvalidRequestError("The items to append must be a list", path=f"{at}.append.{key}")
    appended = {key: list(items) for key, items in operations.append.items()}
    values = {"set": dict(operations.set), "increment": dict(operations.increment), "append": appended}
    for operation, by_key in values.items():
        check(by_key, path=f"{at}.{operation}", empty_keys=False)
    if not isinstance(operations.remove, list | tuple):
        raise InvalidRequestError("The keys to remove must be a list", path=f"{at}.remove")
    for key in operations.remove:
        check_key(key, path=f"{at}.remove")


def type_violation(
    state: Mapping[str, JsonValue], operations: StateOperations, *, at: str = "$"
) -> InvalidRequestError | None:
    """The error of the first increment of a value that is no number, or append to one that is no list."""
    for key in operations.increment:
        if key in state and not _is_number(state[key]):
            return InvalidRequestError("The stored value is not a number", path=f"{at}.increment.{key}")
    for key in operations.append:
        if key in state and not isinstance(state[key], list):
            return InvalidRequestError("The stored value is not a list", path=f"{at}.append.{key}")
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def apply_operations(
    state: Mapping[str, JsonValue], operations: StateOperations, *, at: str = "$"
) -> dict[str, Any]:
    """The state after the operations; ``at`` is their path in the body.

    Raises:
        InvalidRequestError: DynamoDB's numbers cannot hold a sum.
    """
    result = {key: value for key, value in state.items() if key not in set(operations.remove)}
    result.update(operations.set)
    for key, amount in operations.increment.items():
        result[key] = _sum(result.get(key, 0), amount, path=f"{at}.increment.{key}")
    for key, items in operations.append.items():
        result[key] = [*result.get(key, []), *items]
    return result


def sum_violation(
    state: Mapping[str, JsonValue], operations: StateOperations, *, at: str = "$"
) -> InvalidRequestError:
    """The error of the first sum that DynamoDB's numbers cannot hold, or of all where none is the one."""
    for key, amount in operations.increment.items():
        if _is_number(state.get(key, 0)):
            try:
                _sum(state.get(key, 0), amount, path=f"{at}.increment.{key}")
            except InvalidRequestError as error:
                return error
    return InvalidRequestError("The sum is out of range", path=f"{at}.increment")


def _sum(value: int | Decimal, amount: int | Decimal, *, path: str) -> int | Decimal:
    try:
        total = normal_number(_SUM.add(Decimal(value), Decimal(amount)))
    except Inexact as error:
        raise InvalidRequestError("The sum has more than 38 significant digits", path=path) from error
    if not isinstance(total, int | Decimal):
        raise InvalidRequestError("The sum is out of range", path=path)
    return total
