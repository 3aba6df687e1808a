"""What the deployed API answers before any function runs."""

import pytest

from local.emulator import Credentials
from tests.support.emulator import LiveStack
from tests.support.http import Answer, Api

UNKNOWN_KEY = Credentials(access_key_id="AKIAEXAMPLEEXAMPLE00", secret_access_key="of nobody")


def wrongly_signed(stack: LiveStack) -> Api:
    key = stack.tenants["tenant-a"].access_key_id
    return Api(stack.deployed.api_url, Credentials(access_key_id=key, secret_access_key="guessed"))


def assert_unauthenticated(answer: Answer) -> None:
    assert answer.status == 401
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json
    assert problem["type"] == "/problems/unauthenticated"
    assert problem["status"] == 401
    assert problem["instance"] == answer.headers["x-amzn-requestid"]


@pytest.mark.parametrize("path", ["/sessions", "/ops/expiring", "/no/such/path", "/"])
def test_an_unsigned_request_is_refused(deployed: LiveStack, path: str) -> None:
    assert_unauthenticated(deployed.api().call("GET", path))


def test_a_wrong_signature_is_refused(deployed: LiveStack) -> None:
    assert_unauthenticated(wrongly_signed(deployed).call("GET", "/sessions"))


def test_an_unknown_access_key_is_refused(deployed: LiveStack) -> None:
    assert_unauthenticated(Api(deployed.deployed.api_url, UNKNOWN_KEY).call("GET", "/sessions"))


def test_a_bearer_token_is_refused(deployed: LiveStack) -> None:
    headers = {"authorization": "Bearer eyJhbGciOiJub25lIn0"}
    assert_unauthenticated(deployed.api().call("GET", "/sessions", headers=headers))


@pytest.mark.parametrize("tenant", ["tenant-a", "tenant-b", None])
def test_health_answers_everyone(deployed: LiveStack, tenant: str | None) -> None:
    assert deployed.api(tenant).call("GET", "/health").status == 200
