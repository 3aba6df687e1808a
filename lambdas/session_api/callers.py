"""Who calls, from what the gateway has verified."""

import re
from collections.abc import Mapping
from typing import Any, Final

from session_store.domain.caller import NO_SUBJECT, Caller, Permission
from session_store.domain.identifiers import check_identifier
from session_store.errors import ForbiddenError, InvalidRequestError, UnauthenticatedError
from session_store.schema import AuthorizerContext

SUBJECT_HEADER: Final = "Session-Subject"
ANYONE: Final = "*"
EVERY_PERMISSION: Final = frozenset(Permission)

_PRINCIPAL: Final = re.compile(
    r"arn:[^:]+:(?:iam|sts)::(?P<account>\d{12}):"
    r"(?:(?P<root>root)|user/(?:.*/)?(?P<user>[^/]+)|assumed-role/(?P<role>[^/]+)/.+|federated-user/(?P<federated>.+))\Z"
)


def tenant_of(user_arn: str) -> str:
    """Account and user or role of a principal, without paths and without the name of an STS session.

    ``arn:aws:sts::111122223333:assumed-role/Backend/i-0abc`` -> ``111122223333:role/Backend``.

    Raises:
        UnauthenticatedError: no principal that may call.
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

    The gateway's policies have judged which paths the principal may call, and the
    paths of operators, workers and approvers are the permissions; so whoever gets
    here with one of those paths holds them.

    Raises:
        UnauthenticatedError: the gateway names no principal.
        ForbiddenError: a subject from a principal that is not among the delegates.
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
    """The caller whose token the authorizer has verified; ``subject`` is what Session-Subject says.

    Raises:
        UnauthenticatedError: no authorizer speaks of a caller.
        ForbiddenError: a subject is named: the token names it, and no header another.
    """
    verified = request_context.get("authorizer") or {}
    tenant, named = verified.get(AuthorizerContext.TENANT), verified.get(AuthorizerContext.SUBJECT)
    if not tenant or not named:
        raise UnauthenticatedError
    if subject is not None:
        raise ForbiddenError(f"The token names the subject; {SUBJECT_HEADER} may not.")
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
    if not delegates & {tenant, ANYONE}:
        raise ForbiddenError("This principal is not among the delegates that may name a subject.")
    path = f"header {SUBJECT_HEADER}"
    if subject == NO_SUBJECT:
        raise InvalidRequestError("The subject of nobody cannot be named", path=path)
    return check_identifier(subject, path=path)
