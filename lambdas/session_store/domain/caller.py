"""The caller of a use case, and what it may do."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

NO_SUBJECT: Final = "-"
"""The subject of a caller that acts for no end user; callers may not send it."""


class Permission(StrEnum):
    """A permission beyond the caller's own data: an IAM resource path in IAM mode, a scope in JWT mode."""

    OPS = "ops"
    WORKER = "worker"
    APPROVER = "approver"


class Caller(Struct, frozen=True, kw_only=True):
    """The owner of everything that it creates; no other caller can see it.

    ``tenant`` is the authenticated principal, ``subject`` the end user for whom it acts. ``request_id``
    is stored with every write, so that a change can be traced.
    """

    tenant: str
    subject: str = NO_SUBJECT
    permissions: frozenset[Permission] = frozenset()
    request_id: str = ""
