"""References to secrets, and the names of the secrets."""

import hashlib

import pytest

from session_store.domain.credential import Credential, check_credential_ref, secret_name
from session_store.errors import InvalidRequestError


@pytest.mark.parametrize(
    "reference", ["a", "github/token", "a..b", "A-z_0.9+=@", "trailing/", "a//b", "x" * 256, "...", "."]
)
def test_a_reference_is_a_name_that_a_secret_may_have(reference: str) -> None:
    assert check_credential_ref(reference, path="$") == reference


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "/a",
        "..",
        "../a",
        "a/..",
        "a/../b",
        "x" * 257,
        "a b",
        "a#b",
        "a:b",
        "a*",
        "ä",
        "a\n",
        "a\\b",
        "a%2e",
    ],
)
def test_no_other_reference_passes(reference: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        check_credential_ref(reference, path="$.credentialRefs[0]")
    assert refused.value.facts["path"] == "$.credentialRefs[0]"


def test_a_secret_lies_below_its_tenants_own_prefix() -> None:
    tenant = "111122223333:role/backend"
    owner = hashlib.sha256(tenant.encode()).hexdigest()[:32]
    assert secret_name("store/dev", tenant, "github/a") == f"store/dev/{owner}/github/a"
    assert secret_name("store/dev", "another", "github/a") != secret_name("store/dev", tenant, "github/a")


@pytest.mark.parametrize("reference", ["../other/token", "/token", "a/../../b"])
def test_no_reference_leads_out_of_the_prefix(reference: str) -> None:
    with pytest.raises(InvalidRequestError):
        secret_name("store/dev", "tenant", reference)


def test_a_token_is_in_no_text_of_its_credential() -> None:
    credential = Credential(token="marker-4f1c", token_type_hint="access_token")
    assert "marker-4f1c" not in f"{credential} {credential!r}"
