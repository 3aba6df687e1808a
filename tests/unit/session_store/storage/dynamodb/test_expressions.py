"""Clauses of conditions and updates, as DynamoDB gets them."""

import re
from typing import Any

import pytest

from session_store.domain.session import ANY_STATUS, WRITABLE, Status, owner_of
from session_store.domain.session_write import PREDECESSORS
from session_store.domain.state_operations import StateOperations, check_operations
from session_store.schema import Attribute
from session_store.storage.dynamodb.codec import from_attribute
from session_store.storage.dynamodb.expressions import (
    Terms,
    Update,
    has_status,
    holds,
    is_absent,
    is_alive,
    is_current,
    is_home,
    is_owned,
    may_slide,
)
from session_store.storage.dynamodb.session_updates import condition_of, update_of
from tests.support.samples import ALICE, NOW_MS, NOW_SECONDS, REGION, a_guard, a_session, a_slide, a_write


def spelled(terms: Terms, expression: str) -> str:
    """The expression with its placeholders' names and values put in; every one of them is used."""
    arguments = terms.arguments()
    names = arguments.get("ExpressionAttributeNames", {})
    values = arguments.get("ExpressionAttributeValues", {})
    used = set(re.findall(r"[#:]\w+", expression))
    assert used == {*names, *values}
    return re.sub(
        r"[#:]\w+",
        lambda found: names.get(found[0]) or repr(from_attribute(values[found[0]])),
        expression,
    )


def guarded(**changes: Any) -> str:
    terms = Terms()
    return spelled(terms, holds(terms, a_guard(**changes)))


OPERATORS = re.compile(
    r"\b(?:AND|OR|IN|SET|REMOVE|attribute_exists|attribute_not_exists|attribute_type|if_not_exists|list_append)\b|[=<>+]+"
)
ALIVE = f"attribute_exists(pk) AND ttl > {NOW_SECONDS}"
OWNED = "tenant = '111122223333:role/backend' AND subject = 'alice'"
HOME = "homeRegion = 'us-east-1'"


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (lambda terms: is_alive(terms, NOW_MS), ALIVE),
        (lambda terms: is_alive(terms, NOW_MS + 499), ALIVE),
        (lambda terms: is_owned(terms, owner_of(ALICE)), OWNED),
        (lambda terms: is_home(terms, REGION), HOME),
        (lambda terms: is_current(terms, 7), "version = 7"),
        (is_absent, "attribute_not_exists(pk)"),
        (lambda terms: is_absent(terms, NOW_MS), f"(attribute_not_exists(pk) OR ttl <= {NOW_SECONDS})"),
        (lambda terms: has_status(terms, WRITABLE), "status IN ('active', 'initializing')"),
        (lambda terms: has_status(terms, PREDECESSORS[Status.CLOSED]), "status IN ('closing')"),
    ],
)
def test_a_clause_says_what_its_name_says(clause: Any, expected: str) -> None:
    terms = Terms()
    assert spelled(terms, clause(terms)) == expected


def test_a_guard_is_all_its_clauses() -> None:
    every = "status IN ('active', 'closed', 'closing', 'initializing')"
    assert guarded(statuses=ANY_STATUS) == f"{ALIVE} AND {OWNED} AND {HOME} AND {every}"
    assert (
        guarded(statuses=ANY_STATUS, version=5)
        == f"{ALIVE} AND {OWNED} AND {HOME} AND {every} AND version = 5"
    )


def test_a_slide_is_alive_owned_at_home_open_due_and_forward() -> None:
    terms = Terms()
    slide = a_slide(a_session(), now_ms=NOW_MS)
    assert spelled(terms, may_slide(terms, slide)) == (
        f"{ALIVE} AND {OWNED} AND {HOME} AND status IN ('active', 'closing', 'initializing')"
        f" AND slideAfter <= {NOW_SECONDS} AND ttl < {NOW_SECONDS + 3600}"
    )


def test_an_update_sets_and_counts() -> None:
    terms = Terms()
    update = Update(terms)
    update.add_one(Attribute.VERSION)
    update.set(Attribute.STATUS, Status.CLOSED)
    assert spelled(terms, update.expression()) == "SET version = version + 1, status = 'closed'"
    assert update.clauses == []


def test_operations_go_to_keys_of_the_state_with_the_types_they_need() -> None:
    terms = Terms()
    update = Update(terms)
    update.operate(StateOperations(set={"a": 1}, remove=["b", "c"], increment={"d": 2}, append={"e": ["x"]}))
    expression = " | ".join([update.expression(), *update.clauses])
    assert spelled(terms, expression) == (
        "SET state.a = 1, state.d = if_not_exists(state.d, 0) + 2, "
        "state.e = list_append(if_not_exists(state.e, []), ['x']) REMOVE state.b, state.c"
        " | (attribute_not_exists(state.d) OR attribute_type(state.d, 'N'))"
        " | (attribute_not_exists(state.e) OR attribute_type(state.e, 'L'))"
    )


@pytest.mark.parametrize("key", ["status", "a.b", "#pk", ":0", "ünï", "size", " "])
def test_a_key_of_the_state_is_never_spelled_into_an_expression(key: str) -> None:
    terms = Terms()
    update = Update(terms)
    update.set(Attribute.STATUS, "active")
    update.operate(StateOperations(set={key: "v"}))
    assert re.fullmatch(r"SET #status = :0, #state\.#\d+ = :1", update.expression())
    assert sorted(terms.arguments()["ExpressionAttributeNames"].values()) == sorted(["status", "state", key])


def test_fifty_keys_have_fifty_placeholders() -> None:
    terms = Terms()
    terms.name(Attribute.TTL)
    keys = [f"k{number}" for number in range(50)]
    paths = {terms.state_key(key) for key in keys}
    assert len(paths) == 50
    names = terms.arguments()["ExpressionAttributeNames"]
    assert {names[path.partition(".")[2]] for path in paths} == set(keys)


@pytest.mark.parametrize("kind", ["set", "remove", "increment", "append", "each"])
def test_fifty_keys_stay_within_dynamodbs_limits_of_an_expression(kind: str) -> None:
    """4 KB an expression, 300 operators an update (*Service, account, and table quotas*, "Expressions")."""
    keys = [f"{'k' * 253}{number:02}" for number in range(50)]
    values = {"set": "x" * 1000, "remove": None, "increment": 1, "append": ["x" * 1000]}
    given: dict[str, Any] = {"set": {}, "remove": [], "increment": {}, "append": {}}
    for position, key in enumerate(keys):
        into = [*values][position % 4] if kind == "each" else kind
        if into == "remove":
            given[into].append(key)
        else:
            given[into][key] = values[into]
    terms = Terms()
    write = a_write(a_session(), check_operations(StateOperations(**given)), version=7)
    update = update_of(terms, write)
    condition = condition_of(terms, write, update)
    for expression in (update.expression(), condition):
        assert len(expression.encode()) < 4096
        assert len(OPERATORS.findall(expression)) < 300
    assert len(terms.arguments()["ExpressionAttributeNames"]) > 50


def test_no_terms_are_no_arguments() -> None:
    assert Terms().arguments() == {}
