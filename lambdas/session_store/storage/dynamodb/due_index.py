"""The due index: items of any tenant on which a region has to act by itself, by the time they fall due."""

from collections.abc import Iterator

from session_store.domain.times import iso
from session_store.schema import DUE_INDEX, Attribute, Due
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.codec import Item
from session_store.storage.dynamodb.expressions import Terms, all_of, is_equal, is_home


def due_pages(
    client: Client, due: Due, *, region: str, shards: int, now_ms: int, limit: int
) -> Iterator[list[Item]]:
    """Index entries of one kind that are due by now, shard after shard, up to ``limit`` a page.

    Each page is read as it is asked for; none is empty.
    """
    for shard in range(shards):
        terms = Terms()
        keys = all_of(
            is_equal(terms, Attribute.DUE, due),
            is_home(terms, region),
            is_equal(terms, Attribute.SHARD, shard),
            f"{terms.name(Attribute.DUE_FROM)} <= {terms.value(iso(now_ms))}",
        )
        yield from client.pages(
            IndexName=DUE_INDEX.name, KeyConditionExpression=keys, Limit=limit, **terms.arguments()
        )
