"""The authorizer as Lambda runs it: it answers a policy, 401 or 500, and logs nothing of a token."""

import io
import json
from collections.abc import Mapping
from typing import Any, NoReturn

import pytest

from session_store.errors import UnavailableError
from tests.support.functions import load
from tests.support.issuer import AUDIENCE, ISSUER, JWKS_URI, MARKER, jwk, rsa_key, token
from tests.support.lambda_context import Context

ARN = "arn:aws:execute-api:us-east-1:111122223333:abc123/v1/GET/sessions"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    loaded = load(
        monkeypatch,
        "authorizer",
        JWT_ISSUER=ISSUER,
        JWT_AUDIENCE=AUDIENCE,
        JWT_JWKS_URI=JWKS_URI,
        JWT_ALGORITHMS="RS256",
        JWT_ORGANISATION_CLAIM="org_id",
    )
    monkeypatch.setattr(loaded.keys, "fetch", lambda: {"key-1": jwk(rsa_key())})
    return loaded


def call(module: Any, header: str) -> Any:
    event = {"type": "TOKEN", "authorizationToken": header, "methodArn": ARN}
    return module.handler(event, Context("authorizer"))


def counted(printed: str) -> Mapping[str, int]:
    """The metrics that were printed, without the cold start."""
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    return {
        metric["Name"]: int(line[metric["Name"]][0])
        for line in lines
        if "_aws" in line
        for directive in line["_aws"]["CloudWatchMetrics"]
        for metric in directive["Metrics"]
        if metric["Name"] != "ColdStart"
    }


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER "])
def test_an_accepted_token_is_answered_with_a_policy(
    module: Any, capsys: pytest.CaptureFixture[str], scheme: str
) -> None:
    answer = call(module, scheme + token())
    assert answer["context"]["tenant"] == f"{ISSUER}#acme"
    assert counted(capsys.readouterr().out) == {"TokensAccepted": 1}


@pytest.mark.parametrize("header", ["", "Basic abc", "Bearer", "Bearer ", "Bearer a.b.c", "Token a.b.c"])
def test_anything_else_is_answered_401(module: Any, capsys: pytest.CaptureFixture[str], header: str) -> None:
    with pytest.raises(Exception, match=r"^Unauthorized$"):
        call(module, header)
    assert counted(capsys.readouterr().out) == {"TokensRefused": 1}


def test_no_token_is_accepted_while_the_keys_are_unavailable(
    module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def down() -> NoReturn:
        raise UnavailableError("down")

    monkeypatch.setattr(module.keys, "fetch", down)
    with pytest.raises(Exception, match=r"^the issuer's keys are unavailable$"):
        call(module, f"Bearer {token()}")
    assert counted(capsys.readouterr().out) == {"IssuerUnavailable": 1}


def test_a_crash_refuses_the_request_and_logs_nothing_of_the_token(
    module: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(module.logger.registered_handler, "stream", stream)

    def crash(text: str) -> NoReturn:
        raise KeyError(text)

    monkeypatch.setattr(module, "verifier", type("Crashing", (), {"verify": staticmethod(crash)}))
    with pytest.raises(Exception, match=r"^the authorizer crashed$") as raised:
        call(module, f"Bearer {MARKER}")
    assert raised.value.__suppress_context__
    assert MARKER not in stream.getvalue()
    assert json.loads(stream.getvalue())["error"] == "KeyError"
    assert counted(capsys.readouterr().out) == {"AuthorizerCrashed": 1}


@pytest.mark.parametrize("changes", [{"sub": f"{MARKER} "}, {"aud": MARKER}, {"exp": 0}])
def test_no_log_line_holds_anything_of_a_refused_token(
    module: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, Any],
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(module.logger.registered_handler, "stream", stream)
    shown = token(**changes)
    with pytest.raises(Exception, match=r"^Unauthorized$") as raised:
        call(module, f"Bearer {shown}")
    said = stream.getvalue() + capsys.readouterr().out + str(raised.value)
    assert '"message":"refused"' in said
    assert not [part for part in (*shown.split("."), MARKER) if part in said]
