"""Every error has a problem, and every problem is in the OpenAPI document."""

import json

import pytest

from session_api.problems import PROBLEMS, RETRY_AFTER, problem_body, problem_headers, problem_of
from session_store import errors
from session_store.errors import SessionNotFoundError, StoreError
from tests.unit.session_api.test_openapi import COMMITTED

STATUSES = {
    "invalid-request": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "session-not-found": 404,
    "not-found": 404,
    "version-conflict": 412,
    "session-closed": 409,
    "invalid-transition": 409,
    "content-conflict": 409,
    "in-progress": 409,
    "already-decided": 409,
    "fenced": 409,
    "payload-too-large": 413,
    "misdirected": 421,
    "idempotency-mismatch": 422,
    "precondition-required": 428,
    "payload-missing": 500,
    "throttled": 503,
    "outcome-unknown": 503,
}
IN_A_BODY = {("version-conflict", 409), ("outcome-unknown", 409)}
"""Slugs with a second status: of `expectedVersion` in a body, and of an attempt whose lease expired."""


def every(kind: type[StoreError]) -> set[type[StoreError]]:
    return {kind}.union(*(every(child) for child in kind.__subclasses__()))


def test_every_error_has_a_problem_of_its_own() -> None:
    own = {kind for kind in every(StoreError) if kind.__module__ == errors.__name__}
    assert own - {StoreError} == set(PROBLEMS)
    assert len(set(PROBLEMS.values())) == len(PROBLEMS)


def test_slugs_and_statuses_are_those_of_the_contract() -> None:
    assert {(problem.slug, problem.status) for problem in PROBLEMS.values()} == {
        *STATUSES.items(),
        *IN_A_BODY,
    }


@pytest.mark.parametrize("slug", [*STATUSES, "internal"])
def test_every_problem_is_documented(slug: str) -> None:
    described = {
        answer["description"]
        for path in COMMITTED["paths"].values()
        for operation in path.values()
        for answer in operation["responses"].values()
    }
    assert any(f"`{slug}`" in description for description in described)


def test_a_subclass_is_told_from_its_root() -> None:
    assert problem_of(SessionNotFoundError()).slug == "session-not-found"


def test_a_problem_has_the_facts_beside_the_standard_members() -> None:
    problem = problem_of(errors.VersionConflictError(current_version=7))
    body = problem_body(problem, detail="d", instance="r", facts={"currentVersion": 7})
    assert json.loads(body) == {
        "type": "/problems/version-conflict",
        "title": "Version conflict",
        "status": 412,
        "detail": "d",
        "instance": "r",
        "currentVersion": 7,
    }


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidRequestError("d", path="$"),
        errors.VersionConflictError(current_version=7),
        errors.SessionClosedError(status="closed"),
        errors.InvalidTransitionError(from_status="active", to="closed"),
        errors.MisdirectedError(home_region="eu-west-1"),
        errors.ThrottledError(),
    ],
)
def test_no_fact_replaces_a_standard_member(error: StoreError) -> None:
    problem = problem_of(error)
    body = json.loads(problem_body(problem, detail=error.detail, instance="r", facts=error.facts))
    assert (body["type"], body["title"]) == (f"/problems/{problem.slug}", problem.title)
    assert (body["status"], body["detail"], body["instance"]) == (problem.status, error.detail, "r")


def test_retry_after_is_sent_only_where_waiting_helps() -> None:
    assert {problem.slug for problem in RETRY_AFTER} == {"throttled", "in-progress"}
    assert [problem_headers(problem, {}) for problem in RETRY_AFTER] == [{"Retry-After": "1"}] * 2
    assert problem_headers(problem_of(errors.ForbiddenError()), {}) == {}
