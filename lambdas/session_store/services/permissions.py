"""Checks of what a caller is permitted to do."""

from session_store.domain.caller import Caller, Permission
from session_store.errors import ForbiddenError


def check_permission(caller: Caller, permission: Permission) -> None:
    """Check that the caller has a permission.

    Raises:
        ForbiddenError: names the permission.
    """
    if permission not in caller.permissions:
        raise ForbiddenError(f"This needs the {permission} permission.")
