"""The caller of a request, from what the gateway has verified."""

import re
from collections.abc import Mapping
from typing import Any, Final

from session_store.domain.caller import NO_SUBJECT, Caller, Permission
from session_store.domain.identifiers import check_identifier
from session_store.errors import ForbiddenError, InvalidRequestError, UnauthenticatedError
from session_store.schema import AuthorizerContext

SUBJECT_HEADER: Final = "Session-Subject"
EVERY_TENANT: Final = "*"
"""Among the delegates: every principal is one."""

EVERY_PERMISSION: Final = frozenset(Permission)

_PRINCIPAL: Final = re.compile(
    r"arn:[^:]+:(?:iam|sts)::(?P<account>\d{12}):"
    r"(?:(?P<root>root)|user/(?:.*/)?(?P<user>[^/]+)|assumed-role/(?P<role>[^/]+)/.+|federated-user/(?P<federated>.+))\Z"
)


def tenant_of(user_arn: str) -> str:
    """The tenant of a principal: its account with user or role, without paths and STS session name.

    ``arn:aws:sts::111122223333:assumed-role/Backend/i-0abc`` -> ``111122223333:role/Backend``.

    Raises:
        UnauthenticatedError: not a user, role, federated user or root.
    """
    match = _PRINCIPAL.match(user_arn)
    if match is None:
        raise UnauthenticatedError
    account, root, user, role, federated = match.group("account", "root", "user", "role", "federated")
    if root:
        return f"{account}:root"
    kind, name = ("role", role) if role else ("user", user) if user else ("federated-user", federated)
    return f"{account}:{kind}/{name}"


def iam_caller(
    request_context: Mapping[str, Any], *, subject: str | None, delegates: frozenset[str]
) -> Caller:
    """The caller of a SigV4-signed request.

    It holds every permission: IAM policies grant operators, workers and approvers their paths, and the
    gateway has applied them before.

    Raises:
        UnauthenticatedError: the gateway names no principal.
        ForbiddenError: ``subject`` (Session-Subject) from a principal that is not a delegate.
        InvalidRequestError: a malformed subject.
    """
    identity = request_context.get("identity") or {}
    tenant = tenant_of(identity.get("userArn") or "")
    return Caller(
        tenant=tenant,
        subject=_subject(tenant, subject, delegates),
        permissions=EVERY_PERMISSION,
        request_id=str(request_context.get("requestId", "")),
    )


def jwt_caller(request_context: Mapping[str, Any], *, subject: str | None) -> Caller:
    """The caller of a request whose token the authorizer has verified.

    Raises:
        UnauthenticatedError: the authorizer's context names no caller.
        ForbiddenError: ``subject`` (Session-Subject) is sent, although the token names the subject.
    """
    verified = request_context.get("authorizer") or {}
    tenant, named = verified.get(AuthorizerContext.TENANT), verified.get(AuthorizerContext.SUBJECT)
    if not tenant or not named:
        raise UnauthenticatedError
    if subject is not None:
        raise ForbiddenError(f"{SUBJECT_HEADER} is not accepted with a token, which names the subject.")
    granted = str(verified.get(AuthorizerContext.PERMISSIONS, "")).split(" ")
    return Caller(
        tenant=tenant,
        subject=named,
        permissions=frozenset(permission for permission in Permission if permission in granted),
        request_id=str(request_context.get("requestId", "")),
    )


def _subject(tenant: str, subject: str | None, delegates: frozenset[str]) -> str:
    if subject is None:
        return NO_SUBJECT
    if not delegates & {tenant, EVERY_TENANT}:
        raise ForbiddenError(f"Only configured delegates may send {SUBJECT_HEADER}.")
    path = f"header {SUBJECT_HEADER}"
    if subject == NO_SUBJECT:
        raise InvalidRequestError(f"{NO_SUBJECT} is reserved for callers without a subject", path=path)
    return check_identifier(subject, path=path)
