"""The API behind an authorizer: the caller and its permissions are those that the authorizer names."""

import pytest
from msgspec.structs import replace

from session_api.operations import OPERATIONS, Operation
from session_store.schema import Callers
from tests.support.api import InProcessApi, StoreApi
from tests.support.dead_letters import Office
from tests.support.gateway import BACKEND
from tests.support.samples import SESSION_ID
from tests.support.world import World

ALICE = {"tenant": "https://issuer.example#acme", "subject": "alice", "permissions": ""}
BOB = {**ALICE, "subject": "bob"}
UMBRELLA = {**ALICE, "tenant": "https://issuer.example#umbrella"}
OPERATOR = {**ALICE, "permissions": "ops"}
BODIES = {"/ops/drain": {"withinSeconds": 60}, "/ops/dlq/redrive": {"queue": "cleanup"}}
OF_OPERATORS = [operation for operation in OPERATIONS if operation.path.startswith("/ops/")]


@pytest.fixture
def api(world: World) -> InProcessApi:
    return InProcessApi(world, callers=Callers.JWT)


def test_a_session_belongs_to_the_tokens_subject_and_organisation(api: InProcessApi) -> None:
    made = api.call("POST", "/sessions", {}, subject=None, authorizer=ALICE).json
    assert made["subject"] == "alice"
    path = f"/sessions/{made['sessionId']}"
    assert api.call("GET", path, subject=None, authorizer=ALICE).status == 200
    unknown = api.call("GET", f"/sessions/{SESSION_ID}", subject=None, authorizer=BOB)
    for stranger in (BOB, UMBRELLA, {**UMBRELLA, "permissions": "ops worker approver"}):
        answer = api.call("GET", path, subject=None, authorizer=stranger)
        assert (answer.status, answer.text) == (404, unknown.text)


@pytest.mark.parametrize("subject", ["alice", "bob", "-", ""])
def test_a_header_cannot_name_another_subject(api: InProcessApi, subject: str) -> None:
    answer = api.call("GET", "/sessions", subject=subject, authorizer=ALICE)
    assert (answer.status, answer.slug) == (403, "forbidden")


def test_a_signature_is_not_accepted_where_tokens_are(api: InProcessApi) -> None:
    answer = api.call("GET", "/sessions", subject=None, principal=BACKEND)
    assert (answer.status, answer.slug) == (401, "unauthenticated")


def test_an_authorizers_context_is_ignored_where_callers_sign(world: World) -> None:
    signed = InProcessApi(world)
    answer = signed.call("GET", "/sessions", subject=None, principal=None, authorizer=OPERATOR)
    assert (answer.status, answer.slug) == (401, "unauthenticated")


@pytest.mark.parametrize("operation", OF_OPERATORS, ids=lambda operation: operation.name)
@pytest.mark.parametrize("scopes", ["", "worker approver", "opsx"])
def test_operator_use_cases_check_the_permission_themselves(
    world: World, operation: Operation, scopes: str
) -> None:
    store = replace(world.store, dead_letters=lambda: Office().dead_letters)
    api = StoreApi(store, callers=Callers.JWT)
    caller = {**ALICE, "permissions": scopes}
    body = BODIES.get(operation.path)
    answer = api.call(operation.method, operation.path, body, subject=None, authorizer=caller)
    assert (answer.status, answer.slug) == (403, "forbidden")
    assert answer.json["detail"] == "This needs the ops permission."
    assert api.call(operation.method, operation.path, body, subject=None, authorizer=OPERATOR).status == 200
