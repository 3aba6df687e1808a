"""Credentials that a session names, and what became of each after its end."""

import hashlib
import re
from dataclasses import dataclass, field
from typing import Final

from session_store.errors import InvalidRequestError

MAX_REFERENCE: Final = 256
TENANT_DIGITS: Final = 32

_REFERENCE: Final = re.compile(r"(?!/)[A-Za-z0-9/_+=.@-]+\Z")
"""The characters that a name in Secrets Manager may have."""


def check_credential_ref(value: str, *, path: str) -> str:
    """A secret's name below its tenant's prefix: 1..256 characters, no leading ``/``, no part ``..``.

    Raises:
        InvalidRequestError: names ``path``.
    """
    if len(value) > MAX_REFERENCE or not _REFERENCE.match(value) or ".." in value.split("/"):
        detail = (
            f"Must be 1 to {MAX_REFERENCE} of A-Z a-z 0-9 / _ + = . @ -, not begin with / nor hold a part .."
        )
        raise InvalidRequestError(detail, path=path)
    return value


def secret_name(prefix: str, tenant: str, reference: str) -> str:
    """The secret that a session of ``tenant`` means by ``reference``: always one below its tenant's prefix.

    A tenant's name holds characters that a secret's may not, so its hash stands for it.
    """
    owner = hashlib.sha256(tenant.encode()).hexdigest()[:TENANT_DIGITS]
    return f"{prefix}/{owner}/{check_credential_ref(reference, path='credentialRefs')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """``token_type_hint`` as RFC 7009, 2.1 has it: ``access_token``, ``refresh_token``, or another."""

    token: str = field(repr=False)
    token_type_hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """``failure`` says why the credential could not be revoked; None: it is."""

    reference: str
    failure: str | None = None
