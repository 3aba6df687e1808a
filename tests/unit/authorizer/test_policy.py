"""The policy allows what the caller has permission for, and denies the rest explicitly."""

from fnmatch import fnmatchcase
from itertools import chain, combinations

import pytest

from authorizer.policy import policy_for
from session_store.domain.caller import Caller, Permission

API = "arn:aws:execute-api:us-east-1:111122223333:abc123/v1"
OTHER_STAGE = API.replace("/v1", "/v2")
NEEDED = {
    "GET/sessions": None,
    "PATCH/sessions/x/state": None,
    "GET/ops/expiring": Permission.OPS,
    "POST/ops/dlq/redrive": Permission.OPS,
    "POST/tasks/claim": Permission.WORKER,
    "POST/tasks/t1/complete": Permission.WORKER,
    "POST/tasks/t1/fail": Permission.WORKER,
    "POST/tasks/t1/heartbeat": Permission.WORKER,
    "POST/tasks/t1/decide": Permission.APPROVER,
    "POST/tasks": None,
    "POST/tasks/t1/cancel": None,
    "GET/tasks/t1": None,
    "POST/claims/tasks/complete": None,
    "POST/sessions/x/tool-calls/tasks/complete": None,
    "GET/tasks/claim": None,
    "POST/claims/ops/complete": None,
    "GET/sessions/ops/ops": None,
}
EVERY_SET = list(chain.from_iterable(combinations(Permission, count) for count in range(len(Permission) + 1)))


def allowed(caller: Caller, arn: str, *, asked: str = f"{API}/GET/sessions") -> bool:
    """As IAM evaluates: an allow, and no deny."""
    effects = {
        statement["Effect"]
        for statement in policy_for(caller, method_arn=asked)["policyDocument"]["Statement"]
        for resource in statement["Resource"]
        if fnmatchcase(arn, resource)
    }
    return effects == {"Allow"}


@pytest.mark.parametrize("permissions", EVERY_SET, ids=lambda given: "+".join(given) or "none")
@pytest.mark.parametrize("call", NEEDED)
def test_a_call_is_allowed_to_those_who_have_its_permission(
    call: str, permissions: tuple[Permission, ...]
) -> None:
    caller = Caller(tenant="t", subject="s", permissions=frozenset(permissions))
    needed = NEEDED[call]
    assert allowed(caller, f"{API}/{call}") == (needed is None or needed in permissions)


def test_paths_without_permission_are_denied_and_not_left_out() -> None:
    statements = policy_for(Caller(tenant="t"), method_arn=f"{API}/GET/")["policyDocument"]["Statement"]
    assert [statement["Effect"] for statement in statements] == ["Allow", "Deny"]


@pytest.mark.parametrize("asked", [f"{API}/GET/sessions/a/b/c", f"{API}/GET/", f"{API}/GET/*/ops/*"])
def test_the_policy_covers_the_stage_whatever_path_was_called(asked: str) -> None:
    everything = Caller(tenant="t", permissions=frozenset(Permission))
    assert allowed(everything, f"{API}/GET/sessions", asked=asked)
    assert not allowed(everything, f"{OTHER_STAGE}/GET/sessions", asked=asked)


def test_the_context_names_the_caller_in_plain_text() -> None:
    permissions = frozenset({Permission.WORKER, Permission.OPS})
    answer = policy_for(Caller(tenant="t", subject="s", permissions=permissions), method_arn=f"{API}/GET/")
    assert answer["principalId"] == "s"
    assert answer["context"] == {"tenant": "t", "subject": "s", "permissions": "ops worker"}
