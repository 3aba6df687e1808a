"""One kind of child of a session, read a page at a time."""

from typing import Any, Final

from session_store.schema import Attribute
from session_store.storage.client import Client
from session_store.storage.codec import Item
from session_store.storage.expressions import Terms, all_of

A: Final = Attribute
PAGE_BYTES: Final = 3 * 1024 * 1024
"""After this much no further page is joined: at most one more megabyte, so the answer stays under five."""


def query_partition(
    client: Client, pk: str, prefix: str, *, limit: int, after: Item | None, descending: bool = False
) -> tuple[list[Item], bool]:
    """Up to ``limit`` items whose sort key starts with ``prefix``, consistently, and whether there are more.

    An empty prefix is every item of the partition.
    DynamoDB ends a page at 1 MB; pages are joined until the limit is reached.
    """
    terms = Terms()
    keys = f"{terms.name(A.PK)} = {terms.value(pk)}"
    if prefix:
        keys = all_of(keys, f"begins_with({terms.name(A.SK)}, {terms.value(prefix)})")
    arguments: dict[str, Any] = {
        "KeyConditionExpression": keys,
        "ConsistentRead": True,
        "ScanIndexForward": not descending,
        **terms.arguments(),
    }
    items: list[Item] = []
    start = after
    while True:
        if start is not None:
            arguments["ExclusiveStartKey"] = start
        found, start = client.query(**arguments, Limit=limit - len(items))
        items.extend(found)
        if start is None or len(items) >= limit or _bytes_read(items) >= PAGE_BYTES:
            return items, start is not None


def _bytes_read(items: list[Item]) -> int:
    return sum(len(value.get("S", "")) for item in items for value in item.values())
