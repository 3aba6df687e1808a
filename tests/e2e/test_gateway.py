"""What the deployed API answers before any function runs."""

import json
from collections.abc import Sequence

import pytest

from local.credentials import REGION, Credentials
from local.emulator import ACCOUNT
from local.signed_http import Answer, Api
from tests.support.emulator import LiveStack

UNKNOWN_KEY = Credentials(access_key_id="AKIAEXAMPLEEXAMPLE00", secret_access_key="of nobody")


def wrongly_signed(stack: LiveStack) -> Api:
    key = stack.keys["tenant-a"].access_key_id
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


def iam_user(stack: LiveStack, name: str, *, may_call: Sequence[str]) -> Api:
    """A new IAM user that may call these methods and paths of the API."""
    iam = stack.emulator.client("iam")
    iam.create_user(UserName=name)
    if may_call:
        api = f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{stack.deployed.api_id}"
        statement = {
            "Effect": "Allow",
            "Action": "execute-api:Invoke",
            "Resource": [f"{api}/v1/{path}" for path in may_call],
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam.put_user_policy(UserName=name, PolicyName="some", PolicyDocument=policy)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return Api(
        stack.deployed.api_url,
        Credentials(access_key_id=key["AccessKeyId"], secret_access_key=key["SecretAccessKey"]),
    )


# The emulator words a policy's refusal its own way; AWS renders the ACCESS_DENIED response of the template.


def test_a_known_caller_without_permission_is_forbidden(deployed: LiveStack) -> None:
    assert iam_user(deployed, "without-policy", may_call=[]).call("GET", "/sessions").status == 403


def test_operators_routes_are_a_permission_of_their_own(deployed: LiveStack) -> None:
    user = iam_user(deployed, "no-operator", may_call=["*/sessions", "*/sessions/*"])
    assert user.call("GET", "/ops/expiring").status == 403
    assert user.call("GET", "/sessions").status != 403
