"""One kind of child of a session, read a page at a time."""

from typing import Any, Final

from session_store.schema import Attribute
from session_store.storage.client import Client
from session_store.storage.codec import Item, item_size
from session_store.storage.expressions import Terms, all_of

A: Final = Attribute
PAGE_BYTES: Final = 1_200_000
"""What the items of a page have at most, the last one apart.

Lambda answers with 6 MB at most, and the body is a JSON string in there: each quote
and backslash of a payload takes two bytes. The page and a last item of 400 KB make
3.3 MB at most; beside them a session of 400 KB, whose texts are stored unescaped,
makes 2.9 MB where they are control characters, of seven bytes each.
"""


def query_partition(
    client: Client, pk: str, prefix: str, *, limit: int, after: Item | None, descending: bool = False
) -> tuple[list[Item], bool]:
    """Up to ``limit`` items whose sort key starts with ``prefix``, consistently, and whether there are more.

    An empty prefix is every item of the partition.
    DynamoDB ends a page at 1 MB; pages are joined until the limit or ``PAGE_BYTES`` is reached.
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
    size = 0
    start = after
    while True:
        if start is not None:
            arguments["ExclusiveStartKey"] = start
        found, start = client.query(**arguments, Limit=limit - len(items))
        for position, item in enumerate(found):
            items.append(item)
            size += item_size(item)
            if size >= PAGE_BYTES:
                return items, start is not None or position + 1 < len(found)
        if start is None or len(items) >= limit:
            return items, start is not None
