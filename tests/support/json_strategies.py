"""Any JSON value that the store keeps, and other texts of the same value."""

import json
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any, Final

from hypothesis import strategies as st

WIDE: Final = Context(prec=600, Emax=9999, Emin=-9999)


def exact(text: str) -> int | Decimal:
    """The number of a text in its one form."""
    number = WIDE.normalize(Decimal(text))
    return int(number) if number == number.to_integral_value(context=WIDE) else number


def _in_range(number: int | Decimal) -> bool:
    return number == 0 or -130 <= Decimal(number).adjusted() <= 125


TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
MANTISSAS: Final = st.integers(-(10**38) + 1, 10**38 - 1)
NUMBERS: Final = st.builds(
    lambda mantissa, exponent: exact(f"{mantissa}e{exponent}"), MANTISSAS, st.integers(-167, 125)
).filter(_in_range)
LEAVES: Final = st.none() | st.booleans() | TEXTS | NUMBERS | st.integers(-(10**6), 10**6)
VALUES: Final = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=15,
)


def respelled(value: Any, draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """Another JSON text of the value: keys, white space, escapes and numbers written otherwise."""
    space = draw(st.sampled_from(["", " ", "\n\t", "\r\n  "]))
    if isinstance(value, dict):
        pairs = draw(st.permutations(list(value.items())))
        inner = [f"{json.dumps(key)}{space}:{respelled(child, draw)}" for key, child in pairs]
        return f"{space}{{{f'{space},'.join(inner)}{space}}}{space}"
    if isinstance(value, list):
        return f"{space}[{f',{space}'.join(respelled(child, draw) for child in value)}]{space}"
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return f"{space}{draw(st.sampled_from(_spellings(value)))}"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


def _spellings(number: int | Decimal) -> list[str]:
    if isinstance(number, int):
        return [f"{number}", f"{number}.0", f"{number}e0", f"{number or ''}0E-1", f"{number}.000e+00"]
    return [f"{number:f}", f"{number:E}", f"{number:f}0", f"{number:f}e0", f"{number:f}000E-00"]
