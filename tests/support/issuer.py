"""An issuer of tokens as tests need one: keys of every kind, tokens of every fault."""

import base64
import json
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from authorizer.settings import JwtSettings

ISSUER: Final = "https://issuer.example"
AUDIENCE: Final = "session-store"
KEY_ID: Final = "key-1"
JWKS_URI: Final = f"{ISSUER}/.well-known/jwks.json"
MARKER: Final = "marker-7d1f"
"""In tokens whose text must not be seen again."""


@cache
def rsa_key(name: str = KEY_ID, bits: int = 2048) -> rsa.RSAPrivateKey:
    """One key a name."""
    assert name
    return rsa.generate_private_key(public_exponent=65_537, key_size=bits)


@cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@cache
def ed_key() -> ed25519.Ed25519PrivateKey:
    return ed25519.Ed25519PrivateKey.generate()


def jwk(key: Any, *, key_id: str = KEY_ID, **members: Any) -> dict[str, Any]:
    """The public half of a key, as a key set has it; a member of None is left out."""
    makers: Mapping[type, Any] = {
        rsa.RSAPrivateKey: jwt.algorithms.RSAAlgorithm,
        ec.EllipticCurvePrivateKey: jwt.algorithms.ECAlgorithm,
        ed25519.Ed25519PrivateKey: jwt.algorithms.OKPAlgorithm,
    }
    (maker,) = (maker for kind, maker in makers.items() if isinstance(key, kind))
    public = maker.to_jwk(key.public_key(), as_dict=True)
    whole = {**public, "kid": key_id, "use": "sig", **members}
    return {name: value for name, value in whole.items() if value is not None}


def public_pem() -> bytes:
    return rsa_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def claims(**changes: Any) -> dict[str, Any]:
    """Of a token that holds now; a change to None leaves one out."""
    now = int(time.time())
    said = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "alice",
        "org_id": "acme",
        "iat": now,
        "exp": now + 300,
        **changes,
    }
    return {name: value for name, value in said.items() if value is not None}


def token(
    key: Any = None, algorithm: str = "RS256", headers: Mapping[str, Any] | None = None, **changes: Any
) -> str:
    header = {"kid": KEY_ID, **(headers or {})}
    return jwt.encode(claims(**changes), key or rsa_key(), algorithm=algorithm, headers=header)


def handmade(header: object, payload: object, signature: bytes = b"") -> str:
    """A token that no library would make."""
    parts = (json.dumps(header).encode(), json.dumps(payload).encode(), signature)
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def jwt_settings(**changes: Any) -> JwtSettings:
    values: dict[str, Any] = {
        "issuer": ISSUER,
        "audience": (AUDIENCE, "another"),
        "jwks_uri": JWKS_URI,
        "algorithms": ("RS256",),
        "organisation_claim": "org_id",
    }
    return JwtSettings(**{**values, **changes})
