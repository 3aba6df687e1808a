"""Verification of tokens; the reason for a refusal quotes nothing of the token."""

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any, NoReturn

import jwt
import pytest

from authorizer.key_ring import KeyRing
from authorizer.tokens import LEEWAY, MAX_TOKEN, RefusedTokenError, Verifier
from session_store.domain.caller import Caller, Permission
from session_store.errors import UnavailableError
from tests.support import issuer
from tests.support.issuer import KEY_ID, MARKER, claims, handmade, jwk, token


def verifier(*keys: Mapping[str, Any], **changes: Any) -> Verifier:
    known = {key["kid"]: key for key in keys or (jwk(issuer.rsa_key()),)}
    ring = KeyRing(fetch=lambda: known, monotonic=time.monotonic)
    return Verifier(settings=issuer.jwt_settings(**changes), keys=ring)


def reason(text: str, used: Verifier | None = None) -> str:
    with pytest.raises(RefusedTokenError) as refused:
        (used or verifier()).verify(text)
    return str(refused.value)


def test_the_tenant_is_issuer_and_organisation_and_the_subject_is_sub() -> None:
    assert verifier().verify(token()) == Caller(tenant="https://issuer.example#acme", subject="alice")


def test_two_issuers_organisations_of_one_name_are_two_tenants() -> None:
    other = "https://issuer.example/acme"
    theirs = verifier(issuer=other).verify(token(iss=other))
    assert theirs.tenant != verifier().verify(token()).tenant


def test_the_organisation_is_in_the_claim_that_is_configured() -> None:
    used = verifier(organisation_claim="https://example.com/tenant")
    claim: dict[str, Any] = {"https://example.com/tenant": "umbrella"}
    assert used.verify(token(**claim)).tenant.endswith("#umbrella")
    assert reason(token(), used) == "https://example.com/tenant"


@pytest.mark.parametrize("audience", ["session-store", "another", ["x", "session-store"]])
def test_a_token_for_one_of_the_audiences_is_believed(audience: object) -> None:
    assert verifier().verify(token(aud=audience)).subject == "alice"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"iss": "https://issuer.example/"}, "InvalidIssuerError"),
        ({"iss": "https://evil.example"}, "InvalidIssuerError"),
        ({"iss": None}, "MissingRequiredClaimError"),
        ({"aud": "session-store-2"}, "InvalidAudienceError"),
        ({"aud": []}, "MissingRequiredClaimError"),
        ({"aud": [1]}, "InvalidAudienceError"),
        ({"aud": None}, "MissingRequiredClaimError"),
        ({"exp": None}, "MissingRequiredClaimError"),
        ({"exp": "soon"}, "DecodeError"),
        ({"exp": float("inf")}, "DecodeError"),
        ({"exp": 0}, "ExpiredSignatureError"),
        ({"nbf": "x"}, "DecodeError"),
        ({"iat": "x"}, "InvalidIssuedAtError"),
        ({"sub": None}, "MissingRequiredClaimError"),
        ({"sub": ""}, "sub"),
        ({"sub": "-"}, "sub"),
        ({"sub": ".."}, "sub"),
        ({"sub": "a b"}, "sub"),
        ({"sub": "ünï"}, "sub"),
        ({"sub": "a\n"}, "sub"),
        ({"sub": "a" * 256}, "sub"),
        ({"sub": 7}, "InvalidSubjectError"),
        ({"org_id": None}, "org_id"),
        ({"org_id": ""}, "org_id"),
        ({"org_id": "a b"}, "org_id"),
        ({"org_id": ["acme"]}, "org_id"),
        ({"org_id": 7}, "org_id"),
        ({"org_id": True}, "org_id"),
    ],
    ids=str,
)
def test_a_claim_that_is_wrong_or_missing_refuses_the_token(changes: dict[str, Any], why: str) -> None:
    assert reason(token(**changes)) == why


@pytest.mark.parametrize("subject", ["auth0|5f7c8ec7", "a" * 255, "user@example.com", "a#b", "x"])
def test_a_subject_is_taken_as_it_is(subject: str) -> None:
    assert verifier().verify(token(sub=subject)).subject == subject


def test_clocks_may_differ_by_the_leeway_and_no_more() -> None:
    used = verifier()

    def off(claim: str, seconds: int) -> str:
        changes: dict[str, Any] = {claim: int(time.time()) + seconds}
        return token(**changes)

    for claim, seconds in (("exp", 10 - LEEWAY), ("nbf", LEEWAY - 1), ("iat", LEEWAY - 1)):
        assert used.verify(off(claim, seconds)).subject == "alice"
    assert LEEWAY <= 60
    assert reason(off("exp", -LEEWAY - 1), used) == "ExpiredSignatureError"
    assert reason(off("nbf", LEEWAY + 10), used) == "ImmatureSignatureError"
    assert reason(off("iat", LEEWAY + 10), used) == "ImmatureSignatureError"


def test_another_key_under_a_known_id_is_refused() -> None:
    assert reason(token(issuer.rsa_key("a stranger's"))) == "InvalidSignatureError"


def test_a_token_whose_text_was_changed_is_refused() -> None:
    head, body, signature = token().split(".")
    _, other, _ = token(sub="bob").split(".")
    assert reason(f"{head}.{other}.{signature}") == "InvalidSignatureError"
    assert reason(f"{head}.{body}.") == "InvalidSignatureError"


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", None, 7, "HS256", "RS384", "PS256", []])
def test_an_algorithm_that_is_not_configured_is_refused_before_a_key_is_fetched(algorithm: object) -> None:
    def never() -> NoReturn:
        raise AssertionError

    used = Verifier(settings=issuer.jwt_settings(), keys=KeyRing(fetch=never, monotonic=time.monotonic))
    assert reason(handmade({"alg": algorithm, "kid": KEY_ID}, claims()), used) == "algorithm"


def test_the_public_key_is_not_accepted_as_a_shared_secret() -> None:
    """RFC 8725, 2.1: an issuer's public key used as the secret of an HMAC."""
    body = handmade({"alg": "HS256", "kid": KEY_ID}, claims()).rpartition(".")[0]
    signature = hmac.new(issuer.public_pem(), body.encode(), hashlib.sha256).digest()
    forged = handmade({"alg": "HS256", "kid": KEY_ID}, claims(), signature)
    assert reason(forged) == "algorithm"
    assert reason(forged, verifier(algorithms=("RS256", "HS256"))) == "algorithm of another key"


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (issuer.rsa_key(), "PS256"),
        (issuer.rsa_key(), "RS512"),
        (issuer.ec_key(), "ES256"),
        (issuer.ed_key(), "EdDSA"),
    ],
    ids=["PS256", "RS512", "ES256", "EdDSA"],
)
def test_a_configured_algorithm_is_verified_with_the_key_of_its_kind(key: Any, algorithm: str) -> None:
    used = verifier(jwk(key), algorithms=("RS256", algorithm))
    assert used.verify(token(key, algorithm)).subject == "alice"


def test_a_key_is_used_only_with_the_algorithm_that_its_set_names() -> None:
    used = verifier(jwk(issuer.rsa_key(), alg="PS256"), algorithms=("RS256", "PS256"))
    assert used.verify(token(algorithm="PS256")).subject == "alice"
    assert reason(token(), used) == "algorithm of another key"


def test_a_key_of_another_kind_than_the_algorithms_is_refused() -> None:
    used = verifier(jwk(issuer.ec_key()), algorithms=("RS256", "ES256"))
    assert reason(token(), used) == "algorithm of another key"


def test_a_short_key_is_refused() -> None:
    short = issuer.rsa_key("short", 1024)
    with pytest.warns(match="1024 bits"):
        text = token(short)
    assert reason(text, verifier(jwk(short))) == "InvalidKeyError"


@pytest.mark.parametrize("key_id", [None, "", 7, "x" * 257])
def test_a_token_that_names_no_key_is_refused(key_id: object) -> None:
    assert reason(handmade({"alg": "RS256", "kid": key_id}, claims())) in {"no key id", "malformed"}


def test_a_token_of_an_unknown_key_is_refused() -> None:
    assert reason(token(headers={"kid": "key-2"})) == "unknown key"


def test_a_token_with_an_unknown_critical_header_is_refused() -> None:
    assert reason(token(headers={"crit": ["x"], "x": 1})) in {"malformed", "InvalidTokenError"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a.b",
        "a.b.c",
        "..",
        "a.b.c.d",
        "é.é.é",
        "\ud800.e30.",
        handmade([], {}),
        handmade(7, {}),
    ],
)
def test_a_malformed_token_is_refused(text: str) -> None:
    assert reason(text) == "malformed"


@pytest.mark.parametrize("payload", [[], 7, "text", None, {"iss": [issuer.ISSUER]}])
def test_a_signed_token_that_holds_no_claims_is_refused(payload: object) -> None:
    signed = jwt.api_jws.encode(json.dumps(payload).encode(), issuer.rsa_key(), "RS256", {"kid": KEY_ID})
    assert reason(signed) in {"DecodeError", "MissingRequiredClaimError"}


def test_a_header_of_many_levels_is_refused_and_is_no_crash() -> None:
    deep = jwt.utils.base64url_encode(b"[" * 5000).decode()
    assert reason(f"{deep}.e30.") == "malformed"


def test_an_oversized_token_is_refused_unread() -> None:
    large = token(padding="x" * MAX_TOKEN)
    assert reason(large) == "oversized"
    assert verifier().verify(token(padding="x" * 4000)).subject == "alice"


@pytest.mark.parametrize(
    ("said", "granted"),
    [
        ({}, set()),
        ({"scope": "openid ops"}, {Permission.OPS}),
        ({"scope": "ops worker approver"}, set(Permission)),
        ({"scp": "worker"}, {Permission.WORKER}),
        ({"scp": ["approver", "x", 7]}, {Permission.APPROVER}),
        ({"scope": "", "scp": "ops"}, set()),
        ({"scope": "OPS opsx ops:read"}, set()),
        ({"scope": {"ops": True}}, set()),
        ({"scope": 7}, set()),
    ],
    ids=str,
)
def test_scopes_are_permissions_by_their_names(said: dict[str, Any], granted: set[Permission]) -> None:
    assert verifier().verify(token(**said)).permissions == granted


def test_no_reason_quotes_the_token() -> None:
    each: list[dict[str, Any]] = [
        {"sub": f"{MARKER} "},
        {"org_id": f"{MARKER} "},
        {"aud": MARKER},
        {"iss": MARKER},
    ]
    for changes in each:
        assert MARKER not in reason(token(**changes))
    assert MARKER not in reason(token(headers={"kid": MARKER}))


def test_no_token_is_accepted_without_keys() -> None:
    def down() -> NoReturn:
        raise UnavailableError

    used = Verifier(settings=issuer.jwt_settings(), keys=KeyRing(fetch=down, monotonic=time.monotonic))
    with pytest.raises(UnavailableError):
        used.verify(token())
