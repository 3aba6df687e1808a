"""Lists and counts of sessions, each served by an index."""

import heapq
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from msgspec import Struct

from session_store.domain.page import ExpiringPosition, OwnedPosition, Page, PageRequest, ShardPosition
from session_store.domain.session import ExpiringSession, Owner, SessionSummary, Status
from session_store.domain.times import iso, seconds
from session_store.schema import OWNER_INDEX, SESSION_SK, STATUS_TTL_INDEX, Attribute, session_pk
from session_store.storage.dynamodb.client import Client
from session_store.storage.dynamodb.codec import Item, to_item
from session_store.storage.dynamodb.expressions import Terms, all_of, is_equal, is_home, is_owned
from session_store.storage.dynamodb.session_items import (
    expiring_from,
    owned_position_from,
    shard_of,
    summary_from,
)

A: Final = Attribute


class SessionLists(Struct, frozen=True, kw_only=True):
    """The lists; ``shards`` is how many partitions one status has in the status/ttl index."""

    client: Client
    shards: int

    def page_owned(
        self, owner: Owner, *, status: Status | None, now_ms: int, page: PageRequest[OwnedPosition]
    ) -> Page[SessionSummary, OwnedPosition]:
        terms = Terms()
        arguments: dict[str, Any] = {
            "IndexName": OWNER_INDEX.name,
            "KeyConditionExpression": is_owned(terms, owner),
            "FilterExpression": f"{terms.name(A.TTL)} > {terms.value(seconds(now_ms))}",
            "ScanIndexForward": not page.descending,
            "Limit": page.limit,
        }
        if status is not None:
            wanted = is_equal(terms, A.STATUS, status)
            arguments["FilterExpression"] = all_of(arguments["FilterExpression"], wanted)
        start = None if page.after is None else _owned_key(owner, page.after)
        items, last = self.client.query(start=start, **arguments, **terms.arguments())
        after = None if last is None else owned_position_from(last)
        return Page(items=tuple(summary_from(item) for item in items), next=after)

    def page_expiring(
        self, status: Status, *, now_ms: int, until: int, page: PageRequest[ExpiringPosition]
    ) -> Page[ExpiringSession, ExpiringPosition]:
        consumed = dict(page.after.shards) if page.after is not None else {}

        def read(shard: int) -> tuple[list[ExpiringSession], bool]:
            return self._shard(
                shard,
                status=status,
                between=(seconds(now_ms) + 1, until),
                limit=page.limit,
                after=consumed.get(shard),
            )

        with ThreadPoolExecutor(self.shards) as pool:
            shards = list(pool.map(read, range(self.shards)))
        merged = list(heapq.merge(*(sessions for sessions, _ in shards), key=lambda session: session.ttl))
        items = tuple(merged[: page.limit])
        for session in items:
            position = ShardPosition(ttl=session.ttl, session_id=session.session_id)
            consumed[shard_of(session.session_id, self.shards)] = position
        more = len(merged) > page.limit or any(unread for _, unread in shards)
        return Page(items=items, next=ExpiringPosition(shards=consumed) if more else None)

    def _shard(
        self,
        shard: int,
        *,
        status: Status,
        between: tuple[int, int],
        limit: int,
        after: ShardPosition | None,
    ) -> tuple[list[ExpiringSession], bool]:
        """The next sessions of one shard in index order, and whether there are more."""
        earliest, latest = between
        terms = Terms()
        keys = all_of(
            is_equal(terms, A.STATUS, status),
            is_equal(terms, A.SHARD, shard),
            f"{terms.name(A.TTL)} BETWEEN {terms.value(earliest)} AND {terms.value(latest)}",
        )
        if after is not None and after.ttl > latest:
            # A process whose clock was ahead wrote the cursor: it is past this range.
            return [], False
        items, last = self.client.query(
            # DynamoDB refuses a start key outside the key condition.
            start=None if after is None or after.ttl < earliest else _status_key(status, shard, after),
            IndexName=STATUS_TTL_INDEX.name,
            KeyConditionExpression=keys,
            Limit=limit,
            **terms.arguments(),
        )
        return [expiring_from(item) for item in items], last is not None

    def count_living(self, status: Status, *, region: str, now_ms: int) -> Iterator[int]:
        """Counts page by page, from each shard in turn, so that no partition is read at full speed."""
        after: dict[int, Item | None] = dict.fromkeys(range(self.shards))
        while after:
            for shard, start in list(after.items()):
                counted, last = self.client.count(
                    start=start, **_living(status, shard, region=region, now_ms=now_ms)
                )
                yield counted
                if last is None:
                    del after[shard]
                else:
                    after[shard] = last


def _status_key(status: Status, shard: int, position: ShardPosition) -> Item:
    return to_item(
        {
            A.STATUS: status,
            A.SHARD: shard,
            A.TTL: position.ttl,
            A.PK: session_pk(position.session_id),
            A.SK: SESSION_SK,
        }
    )


def _living(status: Status, shard: int, *, region: str, now_ms: int) -> dict[str, Any]:
    terms = Terms()
    keys = all_of(
        is_equal(terms, A.STATUS, status),
        is_equal(terms, A.SHARD, shard),
        f"{terms.name(A.TTL)} > {terms.value(seconds(now_ms))}",
    )
    return {
        "IndexName": STATUS_TTL_INDEX.name,
        "KeyConditionExpression": keys,
        "FilterExpression": is_home(terms, region),
        **terms.arguments(),
    }


def _owned_key(owner: Owner, position: OwnedPosition) -> Item:
    return to_item(
        {
            A.TENANT: owner.tenant,
            A.SUBJECT: owner.subject,
            A.CREATED_AT: iso(position.created_at),
            A.PK: session_pk(position.session_id),
            A.SK: SESSION_SK,
        }
    )
