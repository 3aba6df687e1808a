"""Clauses of conditions and updates, as DynamoDB gets them."""

import re
from typing import Any

import pytest

from session_store.domain.session import ANY_STATUS, WRITABLE, Status, owner_of
from session_store.domain.session_write import PREDECESSORS
from session_store.domain.state_operations import StateOperations
from session_store.schema import Attribute
from session_store.storage.codec import from_attribute
from session_store.storage.expressions import (
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
from tests.support.sessions import NOW, a_guard, a_session, a_slide
from tests.support.world import ALICE, REGION, START


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


ALIVE = f"attribute_exists(pk) AND ttl > {NOW}"
OWNED = "tenant = '111122223333:role/backend' AND subject = 'alice'"
HOME = "homeRegion = 'us-east-1'"


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        (lambda terms: is_alive(terms, START), ALIVE),
        (lambda terms: is_alive(terms, START + 499), ALIVE),
        (lambda terms: is_owned(terms, owner_of(ALICE)), OWNED),
        (lambda terms: is_home(terms, REGION), HOME),
        (lambda terms: is_current(terms, 7), "version = 7"),
        (is_absent, "attribute_not_exists(pk)"),
        (lambda terms: is_absent(terms, START), f"(attribute_not_exists(pk) OR ttl <= {NOW})"),
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
    assert guarded(version=5) == f"{ALIVE} AND {OWNED} AND {HOME} AND {every} AND version = 5"


def test_a_slide_is_alive_owned_at_home_open_due_and_forward() -> None:
    terms = Terms()
    slide = a_slide(a_session(), START)
    assert spelled(terms, may_slide(terms, slide)) == (
        f"{ALIVE} AND {OWNED} AND {HOME} AND status IN ('active', 'closing', 'initializing')"
        f" AND slideAfter <= {NOW} AND ttl < {NOW + 3600}"
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


def test_no_terms_are_no_arguments() -> None:
    assert Terms().arguments() == {}
