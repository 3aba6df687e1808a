"""Changes are stored in a compact form, and read back equal."""

from decimal import Decimal
from typing import Any

import pytest

from session_store.domain.audit_event import AuditChange
from session_store.domain.differences import Difference, Exposure, Operation, differences
from session_store.domain.json_values import encode
from session_store.domain.session import Author
from session_store.schema import Attribute
from session_store.storage.dynamodb.audit_items import audit_change_item, audit_entry_from
from session_store.storage.dynamodb.codec import item_size

UNIT = 1024
BOTH: dict[str, Any] = {
    "state": {"a.b": 1, "a~/b": [1, 2], "": None, "+": "-", "gone": {"deep": [True]}, "n": Decimal("0.1")},
    "version": 1,
    "status": "active",
}
AFTER: dict[str, Any] = {
    "state": {"a.b": 2, "a~/b": [1], "": 0, "+": "*", "n": Decimal("0.10000000001"), "list": [[], {}]},
    "version": 2,
    "status": "active",
    "warnedTtl": None,
}


def row(*changes: Difference) -> AuditChange:
    return AuditChange(
        pk=f"session#use1-{'a' * 32}",
        sk="context#01890a5d-ac96-774b-bcce-b302099a8057",
        event_name="MessageCreated",
        at=1_800_000_000_000,
        author=Author(principal="111122223333:role/backend alice", request_id="1" * 36),
        region="us-east-1",
        stream="arn:aws:dynamodb:us-east-1:111122223333:table/t/stream/2026",
        sequence_number="1" * 21,
        changes=changes,
        ttl=1_800_000_000,
    )


@pytest.mark.parametrize(("old", "new"), [({}, BOTH), (BOTH, {}), (BOTH, AFTER), (AFTER, BOTH), (BOTH, BOTH)])
def test_changes_are_read_as_they_were_found_and_in_their_order(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    found = differences(old, new, exposure=Exposure(digested=frozenset()))
    assert audit_entry_from(audit_change_item(row(*found))).changes == found


def test_an_entry_in_the_older_form_is_read_too() -> None:
    written = [
        {"op": "added", "path": "/state/a", "new": 1},
        {"op": "changed", "path": "/version", "old": 1, "new": 2},
        {"op": "removed", "path": "/warnedTtl", "old": None},
    ]
    item = {**audit_change_item(row()), Attribute.CHANGES: {"S": encode(written).decode()}}
    assert audit_entry_from(item).changes == (
        Difference(operation=Operation.ADDED, path="/state/a", new=1),
        Difference(operation=Operation.CHANGED, path="/version", old=1, new=2),
        Difference(operation=Operation.REMOVED, path="/warnedTtl", old=None),
    )


def test_a_new_message_is_audited_for_one_unit() -> None:
    message = {
        "appendedAt": "2026-01-01T00:00:00.000Z",
        "content": "x" * 1000,
        "contentHash": "a" * 64,
        "entity": "message",
        "homeRegion": "us-east-1",
        "ttl": 1_800_000_000,
        "updatedBy": {"actor": "111122223333:role/backend alice", "requestId": "1" * 36},
        "writeRegion": "us-east-1",
    }
    found = differences({}, message, exposure=Exposure(digested=frozenset({"content"})))
    assert item_size(audit_change_item(row(*found))) <= UNIT
