"""Whole numbers within bounds: durations, and instants in milliseconds.

The API's bodies check them too. The library has no bodies, and a fraction that reached an item, such as a
``ttl`` of 600.5 seconds, could not be read back.
"""

from session_store.errors import InvalidRequestError


def check_whole(value: object, *, least: int, most: int, path: str, unit: str = "") -> None:
    """Check that a value is an ``int``, and no ``bool``, from ``least`` to ``most``.

    Raises:
        InvalidRequestError: names the path, the bounds and the unit.
    """
    bounds = f"{least} to {most} {unit}".rstrip()
    if type(value) is not int:
        raise InvalidRequestError(f"Must be a whole number, {bounds}", path=path)
    if not least <= value <= most:
        raise InvalidRequestError(f"Must be {bounds}", path=path)
