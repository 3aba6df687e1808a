"""The caller of a request, from what the gateway has verified."""

import pytest

from session_api.callers import iam_caller, jwt_caller, tenant_of
from session_store.domain.caller import Caller, Permission
from session_store.errors import ForbiddenError, InvalidRequestError, UnauthenticatedError
from tests.support.gateway import BACKEND

TENANT = "111122223333:role/backend"
DELEGATES = frozenset({TENANT})


def caller(subject: str | None = None, *, delegates: frozenset[str] = DELEGATES) -> Caller:
    context = {"requestId": "r", "identity": {"userArn": BACKEND}}
    return iam_caller(context, subject=subject, delegates=delegates)


@pytest.mark.parametrize(
    ("arn", "tenant"),
    [
        ("arn:aws:iam::111122223333:user/ann", "111122223333:user/ann"),
        ("arn:aws:iam::111122223333:user/team/a/ann", "111122223333:user/ann"),
        ("arn:aws:sts::111122223333:assumed-role/backend/i-0abc", "111122223333:role/backend"),
        ("arn:aws:sts::111122223333:assumed-role/backend/me@example.com", "111122223333:role/backend"),
        ("arn:aws:iam::111122223333:root", "111122223333:root"),
        ("arn:aws:sts::111122223333:federated-user/ann", "111122223333:federated-user/ann"),
        ("arn:aws-us-gov:iam::111122223333:user/ann", "111122223333:user/ann"),
        ("arn:aws-cn:sts::111122223333:assumed-role/backend/s", "111122223333:role/backend"),
    ],
)
def test_a_tenant_is_account_and_principal(arn: str, tenant: str) -> None:
    assert tenant_of(arn) == tenant


@pytest.mark.parametrize(
    "arn",
    [
        "",
        "ann",
        "arn:aws:iam::111122223333:user/",
        "arn:aws:iam::111122223333:user/team/",
        "arn:aws:iam::1111:user/ann",
        "arn:aws:sts::111122223333:assumed-role/backend",
        "arn:aws:sts::111122223333:assumed-role/backend/",
        "arn:aws:iam::111122223333:role/backend",
        "arn:aws:iam::111122223333:rooted",
        "arn:aws:s3:::bucket",
        " arn:aws:iam::111122223333:root",
        "arn:aws:iam::111122223333:root\n",
    ],
)
def test_any_other_principal_is_unauthenticated(arn: str) -> None:
    with pytest.raises(UnauthenticatedError):
        tenant_of(arn)


@pytest.mark.parametrize(
    "context", [{}, {"identity": None}, {"identity": {}}, {"identity": {"userArn": None}}]
)
def test_a_request_without_a_principal_is_unauthenticated(context: dict[str, object]) -> None:
    with pytest.raises(UnauthenticatedError):
        iam_caller(context, subject="alice", delegates=frozenset({"*"}))


def test_a_caller_without_a_subject_acts_for_itself() -> None:
    assert caller() == Caller(tenant=TENANT, subject="-", permissions=frozenset(Permission), request_id="r")


@pytest.mark.parametrize("delegates", [DELEGATES, frozenset({"*"}), frozenset({"other", TENANT})])
def test_a_delegate_may_send_a_subject(delegates: frozenset[str]) -> None:
    assert caller("alice", delegates=delegates).subject == "alice"


@pytest.mark.parametrize(
    "delegates", [frozenset(), frozenset({"444455556666:role/backend"}), frozenset({TENANT + "2"})]
)
@pytest.mark.parametrize("subject", ["alice", "-", ""])
def test_a_principal_that_is_no_delegate_may_not_send_a_subject(
    delegates: frozenset[str], subject: str
) -> None:
    with pytest.raises(ForbiddenError):
        caller(subject, delegates=delegates)


@pytest.mark.parametrize("subject", ["-", "", " ", "a b", "é", "x" * 129, ".."])
def test_no_delegate_may_send_the_reserved_subject(subject: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        caller(subject)
    assert refused.value.facts["path"] == "header Session-Subject"


VERIFIED = {"tenant": "https://issuer.example#acme", "subject": "alice", "permissions": "ops worker"}


def test_a_verified_token_makes_the_caller() -> None:
    permissions = frozenset({Permission.OPS, Permission.WORKER})
    assert jwt_caller({"requestId": "r", "authorizer": VERIFIED}, subject=None) == Caller(
        tenant="https://issuer.example#acme", subject="alice", permissions=permissions, request_id="r"
    )


@pytest.mark.parametrize("said", [{}, {"permissions": ""}, {"permissions": "opsworker OPS"}])
def test_a_permission_that_the_authorizer_does_not_grant_is_not_held(said: dict[str, str]) -> None:
    verified = {name: VERIFIED[name] for name in ("tenant", "subject")}
    caller = jwt_caller({"authorizer": {**verified, **said}}, subject=None)
    assert caller.permissions == frozenset()


@pytest.mark.parametrize(
    "context",
    [
        {},
        {"authorizer": None},
        {"authorizer": {}},
        {"authorizer": {**VERIFIED, "tenant": ""}},
        {"authorizer": {**VERIFIED, "subject": ""}},
        {"identity": {"userArn": BACKEND}},
    ],
)
def test_a_request_without_an_authorizers_context_is_unauthenticated(context: dict[str, object]) -> None:
    with pytest.raises(UnauthenticatedError):
        jwt_caller(context, subject=None)


@pytest.mark.parametrize("subject", ["bob", "alice", "-", ""])
def test_a_subject_header_beside_a_token_is_refused(subject: str) -> None:
    with pytest.raises(ForbiddenError):
        jwt_caller({"authorizer": VERIFIED}, subject=subject)
