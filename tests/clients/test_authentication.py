"""Which credentials are used, and what is signed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials, RefreshableCredentials
from botocore.exceptions import CredentialRetrievalError

from session_store_client import CredentialsError, SigV4
from session_store_client.authentication import region_of
from tests.support.client_answers import URL

SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No AWS configuration on this machine; returns the path of a credentials file to write."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    return tmp_path / "credentials"


def test_credentials_of_the_environment_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    signing = SigV4.default(URL)
    assert (signing.credentials.access_key, signing.region) == ("AKIDEXAMPLE", "eu-west-1")


def test_a_profile_is_taken_with_its_region(bare: Path) -> None:
    bare.write_text(f"[p]\naws_access_key_id = AKIDP\naws_secret_access_key = {SECRET}\nregion = eu-west-3\n")
    assert SigV4.default("https://sessions.example.com", profile="p").region == "eu-west-3"
    assert SigV4.default(URL, profile="p").region == "eu-west-1"
    assert SigV4.default(URL, profile="p", region="ap-south-1").region == "ap-south-1"


def test_missing_credentials_and_a_missing_region_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CredentialsError, match="no AWS credentials"):
        SigV4.default(URL)
    with pytest.raises(CredentialsError, match="nobody"):
        SigV4.default(URL, profile="nobody")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with pytest.raises(CredentialsError, match="no region"):
        SigV4.default("https://sessions.example.com")


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://abc.execute-api.eu-west-1.amazonaws.com/v1", "eu-west-1"),
        ("https://abc.execute-api.cn-north-1.amazonaws.com.cn/v1", "cn-north-1"),
        ("https://abc.execute-api.eu-west-1.amazonaws.com.evil.example/v1", None),
        ("https://sessions.example.com", None),
    ],
)
def test_the_region_is_that_of_api_gateways_host(url: str, region: str | None) -> None:
    assert region_of(url) == region


def test_everything_that_decides_is_signed() -> None:
    signing = SigV4.key("AKIDEXAMPLE", SECRET, region="eu-west-1", token="session-token")
    headers = {"if-match": '"7"', "session-subject": "alice", "idempotency-key": "k"}
    signed = signing.headers("PATCH", f"{URL}/sessions/a%2Fb?x=1", headers, b"{}")
    given = {name.lower(): value for name, value in signed.items()}
    assert set(given) == {"authorization", "x-amz-date", "x-amz-security-token"}
    names = "host;idempotency-key;if-match;session-subject;x-amz-date;x-amz-security-token"
    assert f"SignedHeaders={names}," in given["authorization"]
    assert "Credential=AKIDEXAMPLE/" in given["authorization"]
    assert "/eu-west-1/execute-api/aws4_request" in given["authorization"]


def test_the_signature_is_botocores_of_the_very_request() -> None:
    signing = SigV4.key("AKIDEXAMPLE", SECRET, region="eu-west-1")
    url = f"{URL}/sessions/a%2Fb/context?cursor=a%2B%2F%3D&limit=2"
    given = signing.headers("GET", url, {"accept": "application/json"}, b"")
    host = {"accept": "application/json", "host": "abc.execute-api.eu-west-1.amazonaws.com"}
    request = AWSRequest(method="GET", url=url, data=b"", headers=host)
    auth: Any = SigV4Auth(Credentials("AKIDEXAMPLE", SECRET), "execute-api", "eu-west-1")
    auth.add_auth(request)
    if request.headers["X-Amz-Date"] == given["X-Amz-Date"]:
        assert request.headers["Authorization"] == given["Authorization"]


def test_credentials_that_cannot_be_refreshed_are_an_error_of_their_own() -> None:
    def refresh() -> dict[str, str]:
        raise CredentialRetrievalError(provider="test", error_msg="the role is gone")

    ended = datetime.now(UTC) - timedelta(hours=1)
    expired = RefreshableCredentials("AKID", SECRET, "t", ended, refresh, "test")
    with pytest.raises(CredentialsError, match="the role is gone"):
        SigV4(expired, "eu-west-1").headers("GET", URL, {}, b"")
