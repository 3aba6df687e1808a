"""One kind of child of a session, read a page at a time."""

from typing import Any, Final

from session_store.domain.payload import BYTES
from session_store.schema import PAYLOADS, Attribute
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.codec import Item, item_size
from session_store.storage.dynamodb.expressions import Terms, all_of, is_equal

A: Final = Attribute
PAGE_BYTES: Final = 1_200_000
"""What the items of a page have at most, with the payloads that they refer to, the first one apart.

Lambda answers with 6 MB at most, and the body is a JSON string in there: each quote
and backslash of a payload takes two bytes. So a page makes 2.5 MB at most, a single
item's payloads among them, which have 1 MiB together; beside it a session of 400 KB,
whose texts are stored unescaped, makes 2.9 MB where they are control characters, of
seven bytes each.
"""


def query_partition(
    client: Client, pk: str, prefix: str, *, limit: int, after: Item | None, descending: bool = False
) -> tuple[list[Item], bool]:
    """Up to ``limit`` items whose sort key starts with ``prefix``, consistently, and whether there are more.

    An empty prefix is every item of the partition.
    DynamoDB ends a page at 1 MB; pages are joined until the limit or ``PAGE_BYTES`` is reached.
    """
    terms = Terms()
    keys = is_equal(terms, A.PK, pk)
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
        found, start = client.query(start=start, **arguments, Limit=limit - len(items))
        for item in found:
            size += _carried(item)
            if items and size > PAGE_BYTES:
                return items, True
            items.append(item)
        if start is None or len(items) >= limit:
            return items, start is not None


def _carried(item: Item) -> int:
    """Bytes that an item brings into an answer: its own, and those of its payloads that lie elsewhere."""
    told = (item[name]["M"] for name in PAYLOADS if "M" in item.get(name, {}))
    return item_size(item) + sum(int(each[BYTES]["N"]) for each in told)
