"""Principals beside the two tenants: what one may do that is no delegate, and one that may do nothing."""

import pytest

from local import tenants
from local.emulator import Credentials
from local.signed_http import Api
from tests.support.calls import Acting, assert_problem, create, ids, new_subject, read
from tests.support.emulator import LiveStack
from tests.support.raw_table import RawTable


@pytest.fixture(scope="module")
def outsider(deployed: LiveStack) -> Api:
    """May call the API, and is not among the delegates."""
    emulator = deployed.emulator
    policy = tenants._may_call(deployed.deployed.api_id)
    key = tenants._provision(emulator, name="outsider", policy=policy, known=None)
    return deployed.api().as_(key)


@pytest.fixture(scope="module")
def powerless(deployed: LiveStack) -> Api:
    """A user of the account whom no policy lets call the API."""
    iam = deployed.emulator.client("iam")
    iam.create_user(UserName="powerless")
    key = iam.create_access_key(UserName="powerless")["AccessKey"]
    credentials = Credentials(access_key_id=key["AccessKeyId"], secret_access_key=key["SecretAccessKey"])
    return deployed.api().as_(credentials)


def test_who_is_no_delegate_may_not_name_a_subject(outsider: Api, api: Acting, raw: RawTable) -> None:
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    for subject in (api.subject, new_subject()):
        acting = Acting(outsider, subject)
        for method, path, body in (
            ("POST", "/sessions", {}),
            ("GET", "/sessions", None),
            ("GET", f"/sessions/{session_id}", None),
            ("DELETE", f"/sessions/{session_id}", None),
            ("PATCH", f"/sessions/{session_id}/state", {"set": {"stolen": 1}}),
        ):
            assert_problem(acting.call(method, path, body), 403, "forbidden")
    assert raw.partition(session_id) == before


def test_who_is_no_delegate_owns_its_own_sessions(outsider: Api, api: Acting) -> None:
    session_id = create(outsider)["sessionId"]
    assert read(outsider, session_id)["subject"] == "-"
    assert session_id in ids(outsider, "/sessions")
    assert_problem(api.call("GET", f"/sessions/{session_id}"), 404, "session-not-found")


def test_who_may_not_call_the_api_is_refused(powerless: Api, api: Acting, raw: RawTable) -> None:
    """The emulator words this refusal itself: only its status is the gateway's."""
    session_id = create(api)["sessionId"]
    before = raw.partition(session_id)
    path = f"/sessions/{session_id}/state"
    assert powerless.call("PUT", path, {"stolen": 1}, {"If-Match": "*"}).status == 403
    assert powerless.call("GET", "/sessions").status == 403
    assert raw.partition(session_id) == before
