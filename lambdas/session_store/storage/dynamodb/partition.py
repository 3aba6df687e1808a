"""Pages of the items in one partition, such as one kind of a session's child items."""

from typing import Any, Final

from session_store.domain.payload import BYTES
from session_store.schema import PAYLOADS, Attribute
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.codec import Item, item_size
from session_store.storage.dynamodb.expressions import Terms, all_of, is_equal

A: Final = Attribute
PAGE_BYTES: Final = 1_200_000
"""Largest total size of a page's items and of the payloads that they refer to, unless it has one item only.

A Lambda response is limited to 6 MB, and the body is a JSON string inside it, in which each quote and
backslash of a payload takes two bytes. A page therefore makes 2.5 MB at most; the payloads of a single item
have 1 MiB together. A session of 400 KB beside it stores its text unescaped, and makes 2.9 MB at worst:
control characters take seven bytes each.
"""


def query_partition(
    client: Client, pk: str, prefix: str, *, limit: int, after: Item | None, descending: bool = False
) -> tuple[list[Item], bool]:
    """Up to ``limit`` items whose sort key starts with ``prefix``, and whether there are more.

    They are read consistently. An empty prefix matches the whole partition. DynamoDB ends a page at 1 MB;
    pages are joined until the limit or ``PAGE_BYTES`` is reached.
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
        page, start = client.query(start=start, **arguments, Limit=limit - len(items))
        for item in page:
            size += _answer_size(item)
            if items and size > PAGE_BYTES:
                return items, True
            items.append(item)
        if start is None or len(items) >= limit:
            return items, start is not None


def _answer_size(item: Item) -> int:
    """Bytes that an item adds to an answer: its own, and those of its payloads in S3."""
    references = (item[name]["M"] for name in PAYLOADS if "M" in item.get(name, {}))
    return item_size(item) + sum(int(each[BYTES]["N"]) for each in references)
