"""Values by period: CloudWatch's statistics, and the part of its metric math that the dashboard uses."""

import ast
import math
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

Series = Mapping[float, float]
"""Values by the start of their period, in epoch seconds."""


class UnsupportedError(ValueError):
    """A statistic or an expression that this page does not support."""


_STATISTICS: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "Sum": math.fsum,
    "Average": lambda values: math.fsum(values) / len(values),
    "Maximum": max,
}
_PERCENTILE: Final = re.compile(r"p(\d{1,2})")
_OPERATORS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def aggregate(values: Iterable[tuple[float, float]], *, statistic: str, period: float) -> Series:
    """Aggregate pairs of time and value by period.

    Raises:
        UnsupportedError
    """
    reduce = _reducer(statistic)
    by_period: dict[float, list[float]] = defaultdict(list)
    for at, value in values:
        by_period[at // period * period].append(value)
    return {begin: reduce(by_period[begin]) for begin in sorted(by_period)}


def fill_zeros(series: Series, *, period: float, start: float, end: float) -> Series:
    """Add zeros for periods without values, so that no line is drawn across them."""
    begin = start // period * period
    steps = math.ceil((end - begin) / period)
    return {at: series.get(at, 0.0) for at in (begin + step * period for step in range(steps))}


def overall(values: Sequence[float], *, statistic: str) -> float:
    """Summarise a whole line in one number: the total of a sum, otherwise the maximum."""
    return math.fsum(values) if statistic == "Sum" else max(values)


def _reducer(statistic: str) -> Callable[[Sequence[float]], float]:
    if statistic in _STATISTICS:
        return _STATISTICS[statistic]
    percentile = _PERCENTILE.fullmatch(statistic)
    if percentile is None:
        raise UnsupportedError(f"the statistic {statistic}")
    share = float(percentile[1]) / 100
    # The nearest rank, so that the result is a measured value.
    return lambda values: sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def evaluate(expression: str, *, by_id: Mapping[str, Series]) -> Series:
    """Evaluate sums, products and ratios of series and numbers, and ``FILL(series, number)``.

    As in CloudWatch, a time has a value if every operand has one, and none after a division by zero.

    Raises:
        UnsupportedError: any other expression.
    """
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError as error:
        raise UnsupportedError(f"the expression {expression}") from error
    times = {at for series in by_id.values() for at in series}
    values = {at: _value(tree, at, by_id) for at in sorted(times)}
    return {at: value for at, value in values.items() if value is not None}


def _value(node: ast.expr, at: float, by_id: Mapping[str, Series]) -> float | None:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id=name) if name in by_id:
            return by_id[name].get(at)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _apply(op, _value(left, at, by_id), _value(right, at, by_id))
        case ast.Call(func=ast.Name(id="FILL"), args=[series, ast.Constant(value=int() | float() as number)]):
            value = _value(series, at, by_id)
            return float(number) if value is None else value
        case _:
            raise UnsupportedError(f"the expression {ast.unparse(node)}")


def _apply(op: ast.operator, left: float | None, right: float | None) -> float | None:
    if left is None or right is None or (isinstance(op, ast.Div) and right == 0):
        return None
    return _OPERATORS[type(op)](left, right)
