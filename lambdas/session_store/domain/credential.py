"""Credentials that a session refers to, and their revocation after its end."""

import hashlib
import re
from dataclasses import dataclass, field
from typing import Final

from session_store.errors import InvalidRequestError

MAX_REFERENCE: Final = 256
TENANT_DIGITS: Final = 32

_REFERENCE: Final = re.compile(r"(?!/)[A-Za-z0-9/_+=.@-]+\Z")
"""The characters that Secrets Manager allows in a name."""


def check_credential_ref(value: str, *, path: str) -> str:
    """The reference, if it can name a secret below its tenant's prefix: no leading ``/``, no ``..`` segment.

    Raises:
        InvalidRequestError: names ``path``.
    """
    if len(value) > MAX_REFERENCE or not _REFERENCE.match(value) or ".." in value.split("/"):
        detail = (
            f"Must be 1 to {MAX_REFERENCE} of A-Z a-z 0-9 / _ + = . @ -, without a leading / or a .. segment"
        )
        raise InvalidRequestError(detail, path=path)
    return value


def secret_name(prefix: str, tenant: str, reference: str) -> str:
    """The name of the secret behind a tenant's reference, always below the tenant's own prefix.

    The prefix holds a hash of the tenant, because a tenant's name has characters that a secret's may not.
    """
    owner = hashlib.sha256(tenant.encode()).hexdigest()[:TENANT_DIGITS]
    return f"{prefix}/{owner}/{check_credential_ref(reference, path='credentialRefs')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A token to revoke; ``token_type_hint`` as in RFC 7009, 2.1: ``access_token``, ``refresh_token``, ..."""

    token: str = field(repr=False)
    token_type_hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """The result for one reference: why it could not be revoked, or None if it was."""

    reference: str
    failure: str | None = None
