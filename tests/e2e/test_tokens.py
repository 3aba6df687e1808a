"""Callers that show tokens: who is believed, who is not, and what each may see. A deployment of its own."""

import json
import secrets
import time
from collections.abc import Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from authorizer.tokens import LEEWAY
from local.emulator import ACCOUNT
from local.issuer import Issuer
from local.signed_http import Answer
from tests.e2e.test_isolation import CALL_ID, OPERATIONS, bodies, seen
from tests.support.calls import UNKNOWN_ID, append, assert_problem, create, ids, message_id, tool_call
from tests.support.delivery import eventually
from tests.support.issuer import handmade
from tests.support.logs import from_now_on, invocations, log_lines, nudge
from tests.support.raw_table import session_table
from tests.support.tokens import Bearing, TokenStack, token_stack

MARKER = f"marker-{secrets.token_hex(8)}"
SECONDS_LEFT = (2, 4, 8, 16, 32)
"""Of a token that is to be taken and then refused: as few as this machine is quick enough for."""


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenStack]:
    with token_stack(tmp_path_factory.mktemp("tokens")) as stack:
        yield stack


@pytest.fixture(scope="module")
def alice(tokens: TokenStack) -> Bearing:
    return tokens.caller("alice")


@pytest.fixture(scope="module")
def session_id(alice: Bearing) -> str:
    """A session of Alice's with something of everything in it."""
    session_id: str = create(alice, {"state": {"secret": 1}})["sessionId"]
    append(alice, session_id, "secret")
    assert alice.call("PUT", f"/sessions/{session_id}/tool-calls/{CALL_ID}", tool_call()).status == 201
    return session_id


def assert_refused(answer: Answer) -> None:
    problem = assert_problem(answer, 401, "unauthenticated")
    assert problem["instance"] == answer.headers["x-amzn-requestid"]
    assert answer.headers["www-authenticate"] == "Bearer"


def test_who_shows_a_token_owns_what_he_makes(tokens: TokenStack, alice: Bearing, session_id: str) -> None:
    assert alice.call("GET", f"/sessions/{session_id}").json["subject"] == "alice"
    item = session_table(tokens.stack).metadata(session_id)
    assert item is not None
    assert item["tenant"] == {"S": f"{tokens.issuer.url}#acme"}
    assert session_id in ids(tokens.caller("alice"), "/sessions")


def wrong(tokens: TokenStack) -> dict[str, str]:
    """A token of every fault, each but for it as good as any."""
    now = int(time.time())
    stranger = Issuer(
        url=tokens.issuer.url, key=rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    )
    claims = {"iss": tokens.issuer.url, "aud": "session-store", "sub": "alice", "org_id": "acme"}
    good = tokens.token()
    head, body, signature = good.split(".")
    (key_id,) = (key["kid"] for key in tokens.issuer.key_set()["keys"])  # type: ignore[attr-defined] # a list
    return {
        "issuer": tokens.token(iss=f"{tokens.issuer.url}/"),
        "audience": tokens.token(aud="session-store-2"),
        "no audience": tokens.token(aud=None),
        "algorithm none": handmade({"alg": "none", "kid": key_id}, {**claims, "exp": now + 300}, b"x"),
        "algorithm HS256": handmade({"alg": "HS256", "kid": key_id}, {**claims, "exp": now + 300}, b"x" * 32),
        "unknown key": stranger.token(organisation="acme", subject="alice", scope="", lifetime_seconds=300),
        "signature": f"{head}.{body}.{signature[:-8]}AAAAAAAA",
        "expired": tokens.token(exp=now - 60),
        "no expiry": tokens.token(exp=None),
        "not yet": tokens.token(nbf=now + 300),
        "no subject": tokens.token(sub=None),
        "nobody": tokens.token(sub="-"),
        "no organisation": tokens.token(org_id=None),
        "organisation": tokens.token(org_id="a b"),
        "no signature": f"{head}.{body}.",
        "garbage": MARKER,
    }


def test_every_wrong_token_is_refused_before_any_code_of_the_api_runs(
    tokens: TokenStack, alice: Bearing
) -> None:
    assert alice.call("GET", "/sessions").status == 200
    began = from_now_on()
    for fault, text in wrong(tokens).items():
        for path in ("/sessions", "/no/such/path"):
            answer = tokens.bearing(text).call("GET", path)
            assert answer.status == 401, fault
            assert_refused(answer)
    assert invocations(tokens.stack, since=began) == 0
    assert alice.call("GET", "/sessions").status == 200
    assert invocations(tokens.stack, since=began) == 1


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic YTpi", "Bearer a.b"])
def test_a_request_without_a_token_is_refused(tokens: TokenStack, header: str | None) -> None:
    headers = {} if header is None else {"authorization": header}
    assert_refused(tokens.stack.api().call("GET", "/sessions", headers=headers))


def test_a_signature_is_no_token(tokens: TokenStack) -> None:
    assert_refused(tokens.stack.api("tenant-a").call("GET", "/sessions"))


def test_an_oversized_token_is_refused(tokens: TokenStack) -> None:
    assert_refused(tokens.bearing(tokens.token(padding="x" * 8192)).call("GET", "/sessions"))


def test_health_asks_for_no_token(tokens: TokenStack) -> None:
    assert tokens.stack.api().call("GET", "/health").status == 200


def strangers(tokens: TokenStack) -> dict[str, Bearing]:
    return {
        "another subject of the organisation": tokens.caller("bob"),
        "the same subject of another organisation": tokens.caller("alice", organisation="umbrella"),
        "an operator": tokens.caller("olga", scope="ops"),
        "a subject that looks like two": tokens.caller("acme#alice", organisation="x"),
    }


@pytest.mark.parametrize("operation", OPERATIONS, ids=[operation.name for operation in OPERATIONS])
def test_a_stranger_learns_nothing(tokens: TokenStack, session_id: str, operation: Any) -> None:
    target = operation.path.replace("{toolCallId}", CALL_ID).replace("{checkpointId}", message_id())
    body = bodies()[operation.name] if operation.takes_body else None
    headers = {"If-Match": "*"}
    for stranger in strangers(tokens).values():
        known = stranger.call(operation.method, target.replace("{sessionId}", session_id), body, headers)
        unknown = stranger.call(operation.method, target.replace("{sessionId}", UNKNOWN_ID), body, headers)
        assert known.status == 404
        assert seen(known) == seen(unknown)


def test_no_list_shows_a_strangers_session(tokens: TokenStack, session_id: str) -> None:
    for stranger in strangers(tokens).values():
        assert session_id not in ids(stranger, "/sessions?limit=100")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/ops/expiring"), ("GET", "/ops/dlq"), ("POST", "/ops/drain")]
)
def test_operators_routes_take_the_scope(tokens: TokenStack, method: str, path: str) -> None:
    body = {"withinSeconds": 60} if method == "POST" else None
    for scope in ("", "worker approver", "ops:read"):
        answer = tokens.caller("olga", scope=scope).call(method, path, body)
        assert_problem(answer, 403, "forbidden")
    assert tokens.caller("olga", scope="openid ops").call(method, path, body).status == 200


def test_no_header_names_another_subject(alice: Bearing) -> None:
    answer = alice.call("GET", "/sessions", headers={"Session-Subject": "bob"})
    assert_problem(answer, 403, "forbidden")
    assert alice.call("POST", "/sessions", {}, {"session-subject": "alice"}).status == 403


def test_a_token_is_judged_anew_at_each_call(tokens: TokenStack) -> None:
    for left in SECONDS_LEFT:
        end = int(time.time()) + left
        short = tokens.bearing(tokens.token(exp=end - LEEWAY))
        answer = short.call("GET", "/sessions")
        if time.time() < end:
            break
    assert answer.status == 200
    time.sleep(max(0.0, end + 0.1 - time.time()))
    assert_refused(short.call("GET", "/sessions"))


def test_no_line_of_any_log_holds_a_token_or_what_was_in_it(tokens: TokenStack, alice: Bearing) -> None:
    subject = f"user-{MARKER}"
    good, refused = tokens.token(subject), tokens.token(f"{subject} ")
    create(tokens.bearing(good), {"state": {"k": MARKER}})

    def is_told() -> bool:
        assert tokens.bearing(refused).call("GET", "/sessions").status == 401
        nudge(tokens.stack)
        return any('"message":"refused"' in line for line in log_lines(tokens.stack))

    assert eventually(is_told)
    lines = list(log_lines(tokens.stack))
    secrets_shown = [part for text in (alice.token, good, refused) for part in text.split(".")[1:]]
    assert not [line for line in lines for part in (MARKER, *secrets_shown) if part in line]


def test_an_issuer_that_is_away_lets_nobody_in(tokens: TokenStack, alice: Bearing) -> None:
    """The last of this module: the issuer's server is gone afterwards."""
    tokens.server.close()
    # A new process, which has no keys yet.
    tokens.stack.configure("authorizer", ANOTHER="process")
    began = from_now_on()
    answer = alice.call("GET", "/sessions")
    assert_problem(answer, 500, "internal")
    assert invocations(tokens.stack, since=began) == 0
    assert ACCOUNT not in json.dumps(answer.json)

    def is_told() -> bool:
        assert alice.call("GET", "/sessions").status == 500
        return any('"message":"issuer unavailable"' in line for line in log_lines(tokens.stack))

    assert eventually(is_told)
