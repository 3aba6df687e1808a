"""Condition and update expressions, composed of named clauses.

``Terms`` collects the placeholders of one request, so that no expression contains a value or a reserved word.
"""

from typing import Any, Final

from session_store.domain.claim import ClaimGuard, ClaimStatus
from session_store.domain.expiry_mark import ExpiryMark
from session_store.domain.json_values import JsonValue
from session_store.domain.session import Owner, Status
from session_store.domain.session_write import Guard
from session_store.domain.slide import Slide
from session_store.domain.state_operations import StateOperations
from session_store.domain.times import seconds
from session_store.schema import Attribute
from session_store.storage.dynamodb.codec import Item, to_attribute

A: Final = Attribute


class Terms:
    """Placeholders of one request: ``#name`` for attributes, ``#0`` for state keys, ``:0`` for values."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._values: Item = {}

    def name(self, attribute: Attribute) -> str:
        self._names[f"#{attribute}"] = attribute
        return f"#{attribute}"

    def state_key(self, key: str) -> str:
        placeholder = f"#{len(self._names)}"
        self._names[placeholder] = key
        return f"{self.name(A.STATE)}.{placeholder}"

    def value(self, value: JsonValue) -> str:
        placeholder = f":{len(self._values)}"
        self._values[placeholder] = to_attribute(value)
        return placeholder

    def arguments(self) -> dict[str, Any]:
        """The arguments of a DynamoDB call that define the placeholders."""
        arguments: dict[str, Any] = {}
        if self._names:
            arguments["ExpressionAttributeNames"] = self._names
        if self._values:
            arguments["ExpressionAttributeValues"] = self._values
        return arguments


def conditional_put(item: Item, *, table: str, terms: Terms, condition: str) -> dict[str, Any]:
    """A put of a transaction under a condition. A refusal returns the stored item."""
    return {
        "Put": {
            "TableName": table,
            "Item": item,
            "ConditionExpression": condition,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            **terms.arguments(),
        }
    }


def unconditional_put(item: Item, *, table: str) -> dict[str, Any]:
    """A put of a transaction without a condition."""
    return {"Put": {"TableName": table, "Item": item}}


def all_of(*clauses: str) -> str:
    return " AND ".join(clauses)


def is_equal(terms: Terms, attribute: Attribute, value: JsonValue) -> str:
    return f"{terms.name(attribute)} = {terms.value(value)}"


def is_absent(terms: Terms, now_ms: int | None = None) -> str:
    """There is no such item, or, if ``now_ms`` is given, one that has expired by then."""
    absent = f"attribute_not_exists({terms.name(A.PK)})"
    if now_ms is None:
        return absent
    return f"({absent} OR {terms.name(A.TTL)} <= {terms.value(seconds(now_ms))})"


def is_alive(terms: Terms, now_ms: int) -> str:
    return f"attribute_exists({terms.name(A.PK)}) AND {terms.name(A.TTL)} > {terms.value(seconds(now_ms))}"


def is_admitted(terms: Terms, guard: ClaimGuard) -> str:
    """The guard of a claim, as ``domain.claim.admits`` evaluates it."""
    if guard.fence is None:
        return is_absent(terms, guard.now_ms)
    return all_of(is_alive(terms, guard.now_ms), matches_guard(terms, guard))


def matches_guard(terms: Terms, guard: ClaimGuard) -> str:
    """The item has the status and, where the guard names them, the fence and the lease."""
    clauses = [is_equal(terms, A.CLAIM_STATUS, guard.status)]
    if guard.fence is not None:
        clauses.append(is_fenced_by(terms, guard.fence))
    if guard.lease_until_ms is not None:
        clauses.append(is_leased_until(terms, guard.lease_until_ms))
    return all_of(*clauses)


def is_unsettled(terms: Terms) -> str:
    return is_equal(terms, A.CLAIM_STATUS, ClaimStatus.IN_PROGRESS)


def is_fenced_by(terms: Terms, fence: int) -> str:
    return is_equal(terms, A.FENCE, fence)


def is_leased_until(terms: Terms, lease_until_ms: int) -> str:
    return is_equal(terms, A.LEASE_UNTIL_MS, lease_until_ms)


def is_owned(terms: Terms, owner: Owner) -> str:
    return all_of(
        is_equal(terms, A.TENANT, owner.tenant),
        is_equal(terms, A.SUBJECT, owner.subject),
    )


def is_home(terms: Terms, region: str) -> str:
    return is_equal(terms, A.HOME_REGION, region)


def has_status(terms: Terms, statuses: frozenset[Status]) -> str:
    listed = ", ".join(terms.value(status) for status in sorted(statuses))
    return f"{terms.name(A.STATUS)} IN ({listed})"


def is_current(terms: Terms, version: int) -> str:
    return is_equal(terms, A.VERSION, version)


def ends_by(terms: Terms, ttl: int) -> str:
    return f"{terms.name(A.TTL)} <= {terms.value(ttl)}"


def is_new(terms: Terms, operation_id: str) -> str:
    """The last write was another operation: a retry of a write that was done is refused, then recognised."""
    return f"{terms.name(A.LAST_WRITE)} <> {terms.value(operation_id)}"


def holds(terms: Terms, guard: Guard) -> str:
    """Every clause of a guard."""
    clauses = [
        is_alive(terms, guard.now_ms),
        is_owned(terms, guard.owner),
        is_home(terms, guard.region),
        has_status(terms, guard.statuses),
    ]
    if guard.version is not None:
        clauses.append(is_current(terms, guard.version))
    if guard.ends_by is not None:
        clauses.append(ends_by(terms, guard.ends_by))
    return all_of(*clauses)


def may_slide(terms: Terms, slide: Slide) -> str:
    clauses = [holds(terms, slide.guard)]
    if slide.due:
        clauses.append(f"{terms.name(A.SLIDE_AFTER)} <= {terms.value(seconds(slide.guard.now_ms))}")
    return all_of(*clauses, f"{terms.name(A.TTL)} < {terms.value(slide.window.ttl)}")


def may_mark(terms: Terms, mark: ExpiryMark) -> str:
    ttl = terms.value(mark.ttl)
    return all_of(
        f"{terms.name(A.TTL)} = {ttl}",
        is_home(terms, mark.region),
        f"{terms.name(A.WARNED_TTL)} <> {ttl}",
    )


class Update:
    """An update expression, and the type clauses that its operations need."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._sets: list[str] = []
        self._removes: list[str] = []
        self.clauses: list[str] = []

    def set(self, attribute: Attribute, value: JsonValue) -> None:
        self._sets.append(f"{self._terms.name(attribute)} = {self._terms.value(value)}")

    def add_one(self, attribute: Attribute) -> None:
        name = self._terms.name(attribute)
        self._sets.append(f"{name} = {name} + {self._terms.value(1)}")

    def operate(self, operations: StateOperations) -> None:
        """``set``, ``remove``, ``increment`` and ``append`` on keys of the state map."""
        terms = self._terms
        for key, value in operations.set.items():
            self._sets.append(f"{terms.state_key(key)} = {terms.value(value)}")
        for key in operations.remove:
            self._removes.append(terms.state_key(key))
        if operations.increment:
            zero, number = terms.value(0), terms.value("N")
            for key, amount in operations.increment.items():
                path = terms.state_key(key)
                self._sets.append(f"{path} = if_not_exists({path}, {zero}) + {terms.value(amount)}")
                self._may_be(path, number)
        if operations.append:
            empty, listed = terms.value([]), terms.value("L")
            for key, items in operations.append.items():
                path = terms.state_key(key)
                self._sets.append(
                    f"{path} = list_append(if_not_exists({path}, {empty}), {terms.value(list(items))})"
                )
                self._may_be(path, listed)

    def _may_be(self, path: str, kind: str) -> None:
        self.clauses.append(f"(attribute_not_exists({path}) OR attribute_type({path}, {kind}))")

    def expression(self) -> str:
        removes = f" REMOVE {', '.join(self._removes)}" if self._removes else ""
        return f"SET {', '.join(self._sets)}{removes}"
