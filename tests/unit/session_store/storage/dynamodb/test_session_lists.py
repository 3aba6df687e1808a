"""How the pages of the status/ttl index are counted."""

from typing import Any

import pytest

from bench.fixed_costs import ENTRY_BYTES
from session_store.domain.session import Owner, Status
from session_store.errors import ThrottledError
from session_store.schema import STATUS_TTL_INDEX, Attribute
from session_store.storage.dynamodb.codec import item_size
from session_store.storage.dynamodb.session_items import session_item
from session_store.storage.dynamodb.session_lists import SessionLists
from tests.support.samples import NOW_MS, REGION, SESSION_ID, a_session
from tests.support.stubbed import Stubbed

PLACE = {"pk": {"S": "session#x"}, "sk": {"S": "metadata"}}


def test_an_entry_of_the_index_is_as_long_as_the_costs_say() -> None:
    owner = Owner(tenant="111122223333:role/backend", subject="7e314575-27e2-470a-b62a-c91d1e0986b1")
    ends = 1_812_345_678
    session = a_session(session_id=SESSION_ID, owner=owner, ttl=ends, warned_ttl=ends)
    item = session_item(session, shards=4)
    index = STATUS_TTL_INDEX
    entry = {Attribute.PK, Attribute.SK, *index.partition, *index.sort, *index.projected}
    assert item_size({name: value for name, value in item.items() if name in entry}) == ENTRY_BYTES


def asked(stubbed: Stubbed) -> list[tuple[int, bool]]:
    """The shard of each query, and whether it has a start key; filled as queries are sent."""
    queries: list[tuple[int, bool]] = []

    def note(params: dict[str, Any], **_: Any) -> None:
        assert (params["Select"], params["IndexName"]) == ("COUNT", "status-ttl-index")
        assert "ConsistentRead" not in params
        (shard,) = (
            int(value["N"])
            for value in params["ExpressionAttributeValues"].values()
            if value.get("N", "none") in "0123"
        )
        queries.append((shard, "ExclusiveStartKey" in params))

    stubbed.client.dynamodb.meta.events.register("provide-client-params.dynamodb", note)
    return queries


def test_a_page_of_each_shard_is_read_in_turn_until_none_has_more() -> None:
    stubbed = Stubbed()
    for count, more in [(5, True), (1, False), (7, True), (2, False), (3, True), (0, False), (4, False)]:
        last = {"LastEvaluatedKey": PLACE} if more else {}
        stubbed.stubber.add_response("query", {"Count": count, **last})
    queries = asked(stubbed)
    lists = SessionLists(client=stubbed.client, shards=4)
    with stubbed.stubber:
        parts = list(lists.count_living(Status.ACTIVE, region=REGION, now_ms=NOW_MS))
    assert parts == [5, 1, 7, 2, 3, 0, 4]
    first = [(0, False), (1, False), (2, False), (3, False)]
    assert queries == [*first, (0, True), (2, True), (0, True)]


def test_nothing_is_read_that_is_not_asked_for() -> None:
    stubbed = Stubbed()
    stubbed.stubber.add_response("query", {"Count": 5, "LastEvaluatedKey": PLACE})
    queries = asked(stubbed)
    with stubbed.stubber:
        parts = SessionLists(client=stubbed.client, shards=4).count_living(
            Status.ACTIVE, region=REGION, now_ms=NOW_MS
        )
        assert next(parts) == 5
    assert queries == [(0, False)]


def test_a_count_that_is_throttled_to_the_end_fails() -> None:
    stubbed = Stubbed()
    stubbed.fails("query", "ThrottlingException", times=3)
    lists = SessionLists(client=stubbed.client, shards=4)
    with stubbed.stubber, pytest.raises(ThrottledError):
        list(lists.count_living(Status.ACTIVE, region=REGION, now_ms=NOW_MS))
