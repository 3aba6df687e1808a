"""What API Gateway is told about a caller: an IAM policy, and who it is."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from session_store.domain.caller import Caller, Permission
from session_store.schema import AuthorizerContext

METHODS: Final = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
"""One by one: in a policy ``*`` passes over slashes, and a path may have a part named as another begins."""

PATHS: Final[Mapping[Permission, Sequence[str]]] = {
    Permission.OPS: tuple(f"{method}/ops/*" for method in METHODS),
    Permission.WORKER: ("POST/tasks/claim",),
    Permission.APPROVER: ("POST/tasks/*/decide",),
}
"""Methods and paths that need a permission; IAM policies name the same ones."""


def policy_for(caller: Caller, *, method_arn: str) -> dict[str, Any]:
    """All of the API but what the caller lacks a permission for.

    Denied, not left out: beside an authorizer, an allow of the API's own resource policy is enough for
    what this one says nothing of.
    """
    # arn:aws:execute-api:<region>:<account>:<api>/<stage>/<method>/<path>
    stage = "/".join(method_arn.split("/")[:2])
    lacking = [
        f"{stage}/{path}"
        for permission, paths in PATHS.items()
        if permission not in caller.permissions
        for path in paths
    ]
    statements = [_statement("Allow", [f"{stage}/*"])]
    if lacking:
        statements.append(_statement("Deny", lacking))
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
