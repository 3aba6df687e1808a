"""JSON values as exact DynamoDB attribute values, and their sizes."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from session_store.domain.json_values import MAX_DIGITS, JsonValue, normal_number

ITEM_LIMIT: Final = 400 * 1024
"""Bytes of an item, names included (*Service, account, and table quotas*, "Items")."""

AttributeValue = Any
"""``{"S": ...}`` and so on; botocore's own type is as wide."""

Item = dict[str, AttributeValue]

_NULL: Final[AttributeValue] = {"NULL": True}


def to_attribute(value: JsonValue) -> AttributeValue:
    """A JSON value as an attribute value; an ``int`` or ``Decimal`` keeps every digit."""
    match value:
        case None:
            return _NULL
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": str(value)}
        case int() | Decimal():
            return {"N": _number_text(value)}
        case list() | tuple():
            return {"L": [to_attribute(entry) for entry in value]}
        case Mapping():
            return {"M": {key: to_attribute(entry) for key, entry in value.items()}}
    message = f"{type(value).__name__} is not a JSON value"
    raise TypeError(message)


def from_attribute(attribute: AttributeValue) -> JsonValue:
    """The JSON value of an attribute value that ``to_attribute`` made."""
    ((kind, value),) = attribute.items()
    match kind:
        case "S" | "BOOL":
            return value
        case "N":
            return _number(value)
        case "NULL":
            return None
        case "L":
            return [from_attribute(entry) for entry in value]
        case "M":
            return {key: from_attribute(entry) for key, entry in value.items()}
    message = f"attribute type {kind} is never written by this store"
    raise TypeError(message)


def _number_text(value: int | Decimal) -> str:
    """The digits of a number, without zeros that would count against DynamoDB's limits."""
    text = str(value)
    return text if value and len(text) <= MAX_DIGITS else str(normal_number(Decimal(value)))


def _number(text: str) -> int | Decimal:
    if text.removeprefix("-").isdigit():
        return int(text)
    number = normal_number(Decimal(text))
    if isinstance(number, int | Decimal):
        return number
    message = f"DynamoDB holds no such number: {text}"
    raise TypeError(message)


def to_item(attributes: Mapping[str, JsonValue]) -> Item:
    return {name: to_attribute(value) for name, value in attributes.items()}


def from_item(item: Item) -> dict[str, JsonValue]:
    return {name: from_attribute(value) for name, value in item.items()}


def item_size(item: Item) -> int:
    """Bytes that DynamoDB counts for an item, names included (*DynamoDB item sizes and formats*)."""
    return sum(len(name.encode()) + _size(value) for name, value in item.items())


def _size(attribute: AttributeValue) -> int:
    ((kind, value),) = attribute.items()
    match kind:
        case "S":
            return len(value.encode())
        case "N":
            return _number_size(value)
        case "L":
            return 3 + sum(1 + _size(entry) for entry in value)
        case "M":
            return 3 + sum(1 + len(key.encode()) + _size(entry) for key, entry in value.items())
    return 1


def _number_size(text: str) -> int:
    """About one byte for every two significant digits, one more, and one for a minus sign."""
    digits = "".join(map(str, Decimal(text).as_tuple().digits)).strip("0")
    return (len(digits) + 1) // 2 + 1 + text.startswith("-")
