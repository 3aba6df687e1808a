"""The authorizer's response to API Gateway: an IAM policy, and the caller's identity as context."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from session_store.domain.caller import Caller, Permission
from session_store.schema import AuthorizerContext

METHODS: Final = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
"""Listed one by one, since ``*`` in a policy also matches slashes: ``*/ops/*`` would match other paths."""

PATHS: Final[Mapping[Permission, Sequence[str]]] = {
    Permission.OPS: tuple(f"{method}/ops/*" for method in METHODS),
    Permission.WORKER: (
        "POST/tasks/claim",
        "POST/tasks/*/complete",
        "POST/tasks/*/fail",
        "POST/tasks/*/heartbeat",
    ),
    Permission.APPROVER: ("POST/tasks/*/decide",),
}
"""Methods and paths that need a permission; the IAM policies of SigV4 callers name the same ones."""


def policy_for(caller: Caller, *, method_arn: str) -> dict[str, Any]:
    """A policy that allows the whole API but the paths that the caller lacks a permission for.

    Those are denied, not left out: where this policy is silent, an allow in the API's own resource policy
    would be enough.
    """
    # arn:aws:execute-api:<region>:<account>:<api>/<stage>/<method>/<path>
    stage = "/".join(method_arn.split("/")[:2])
    forbidden = [
        f"{stage}/{path}"
        for permission, paths in PATHS.items()
        if permission not in caller.permissions
        for path in paths
    ]
    statements = [_statement("Allow", [f"{stage}/*"])]
    if forbidden:
        statements.append(_statement("Deny", forbidden))
    return {
        "principalId": caller.subject,
        "policyDocument": {"Version": "2012-10-17", "Statement": statements},
        "context": {
            AuthorizerContext.TENANT.value: caller.tenant,
            AuthorizerContext.SUBJECT.value: caller.subject,
            AuthorizerContext.PERMISSIONS.value: " ".join(sorted(caller.permissions)),
        },
    }


def _statement(effect: str, resources: Sequence[str]) -> dict[str, Any]:
    return {"Effect": effect, "Action": "execute-api:Invoke", "Resource": list(resources)}
