"""A permission is needed by its name, and none stands for another."""

import pytest

from session_store.domain.caller import Caller, Permission
from session_store.errors import ForbiddenError
from session_store.services.permissions import check_permission


def caller(*permissions: Permission) -> Caller:
    return Caller(tenant="t", permissions=frozenset(permissions))


@pytest.mark.parametrize("permission", Permission)
def test_a_permission_is_enough_and_the_others_are_not(permission: Permission) -> None:
    check_permission(caller(permission), permission)
    others = set(Permission) - {permission}
    with pytest.raises(ForbiddenError, match=f"needs the {permission} permission"):
        check_permission(caller(*others), permission)
