"""The development issuer: its key, its metadata, and tokens that the authorizer accepts."""

import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest

from authorizer.key_ring import KeyRing
from authorizer.key_source import KeySource
from authorizer.settings import JwtSettings
from authorizer.tokens import Verifier
from local.access import ISSUER_KEY, ISSUER_URL, NotRunningError
from local.access_token import main, token
from local.authorization_server import authorization_server
from local.issuer import AUDIENCE, JWKS, OAUTH, OPENID, ORGANISATION, load_or_create_key
from session_store.domain.caller import Permission


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """The state of a stack whose authorization server is an issuer."""
    key = load_or_create_key(tmp_path / ISSUER_KEY)
    with authorization_server(port=0, file=tmp_path / "revocations", say=print, key=key) as url:
        (tmp_path / ISSUER_URL).write_text(f"{url}\n")
        yield tmp_path


def get(state: Path, path: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(
        urlsplit((state / ISSUER_URL).read_text()).netloc.strip(), timeout=5
    )
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    finally:
        connection.close()


def verifier(state: Path) -> Verifier:
    url = (state / ISSUER_URL).read_text().strip()
    settings = JwtSettings(
        issuer=url,
        audience=(AUDIENCE,),
        jwks_uri=f"{url}{JWKS}",
        algorithms=("RS256",),
        organisation_claim=ORGANISATION,
    )
    return Verifier(
        settings=settings,
        keys=KeyRing(fetch=KeySource(uri=settings.jwks_uri).fetch, monotonic=time.monotonic),
    )


def test_the_authorizer_believes_its_tokens(state: Path) -> None:
    caller = verifier(state).verify(token(state, {}))
    assert caller.tenant.endswith("#tenant-a")
    assert caller.subject == "alice"
    assert not caller.permissions


def test_a_token_has_the_tenant_subject_and_scope_asked_for(state: Path) -> None:
    said = {"TENANT": "acme", "SUBJECT": "bob", "SCOPE": "ops worker", "EXPIRES": "60"}
    text = token(state, said)
    caller = verifier(state).verify(text)
    assert caller.tenant.endswith("#acme")
    assert caller.subject == "bob"
    assert caller.permissions == frozenset({Permission.OPS, Permission.WORKER})
    claims = jwt.decode(text, options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] == 60


def test_it_publishes_metadata_for_openid_and_for_oauth(state: Path) -> None:
    url = (state / ISSUER_URL).read_text().strip()
    for path in (OPENID, OAUTH):
        status, metadata = get(state, path)
        assert (status, metadata["issuer"], metadata["jwks_uri"]) == (200, url, f"{url}{JWKS}")


def test_it_publishes_only_the_public_key(state: Path) -> None:
    _, answer = get(state, JWKS)
    (key,) = answer["keys"]
    assert set(key) - {"key_ops"} == {"kty", "n", "e", "kid", "use", "alg"}


def test_without_a_key_it_is_no_issuer(tmp_path: Path) -> None:
    with authorization_server(port=0, file=tmp_path / "revocations", say=print) as url:
        (tmp_path / ISSUER_URL).write_text(url)
        assert [get(tmp_path, path)[0] for path in (JWKS, OPENID, OAUTH)] == [404, 404, 404]


def test_its_key_is_made_once_and_read_by_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / ISSUER_KEY
    first = load_or_create_key(file).public_key().public_numbers()
    assert load_or_create_key(file).public_key().public_numbers() == first
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [ISSUER_KEY]


def test_a_token_goes_to_standard_output_and_nothing_beside_it(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(state) == 0
    printed = capsys.readouterr()
    assert verifier(state).verify(printed.out.removesuffix("\n")).subject == "alice"
    assert printed.err == ""


@pytest.mark.parametrize("expires", ["soon", "1.5", "99999999999", "--5", "٣"])
def test_an_expiry_that_is_no_number_of_seconds_is_refused(
    state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], expires: str
) -> None:
    monkeypatch.setenv("EXPIRES", expires)
    assert main(state) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "EXPIRES must be" in printed.err


def test_without_a_stack_that_takes_tokens_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(NotRunningError):
        token(tmp_path, {})
    assert main(tmp_path) == 1
    assert "make run AUTH=jwt" in capsys.readouterr().err
