"""Who asks."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

NO_SUBJECT: Final = "-"
"""The subject of a caller that acts for nobody but itself; no caller may send it."""


class Permission(StrEnum):
    """What not every caller may do: IAM resource paths in IAM mode, scopes in JWT mode."""

    OPS = "ops"
    WORKER = "worker"
    APPROVER = "approver"


class Caller(Struct, frozen=True, kw_only=True):
    """The owner of what is made and the only one who sees it.

    ``tenant`` is the authenticated principal, ``subject`` the end user it acts
    for. ``request_id`` goes with every write, so that a change can be traced.
    """

    tenant: str
    subject: str = NO_SUBJECT
    permissions: frozenset[Permission] = frozenset()
    request_id: str = ""
