"""A token issuer for development: its key, metadata and tokens.

Reading the key's file is enough to issue any token for this machine's stack, and for no other.
"""

import base64
import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

AUDIENCE: Final = "session-store"
ALGORITHM: Final = "RS256"
ORGANISATION: Final = "org_id"
"""The claim with the organisation, the configuration's default."""

OPENID: Final = "/.well-known/openid-configuration"
OAUTH: Final = "/.well-known/oauth-authorization-server"
JWKS: Final = "/.well-known/jwks.json"
BITS: Final = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """``url`` is the claim ``iss``."""

    url: str
    key: RSAPrivateKey

    def token(
        self, *, organisation: str, subject: str, scope: str, lifetime_seconds: int, **claims: object
    ) -> str:
        """Issue a token. ``claims`` override the others; None omits one."""
        now = int(time.time())
        payload = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": subject,
            ORGANISATION: organisation,
            "scope": scope,
            "iat": now,
            "exp": now + lifetime_seconds,
            **claims,
        }
        present = {name: value for name, value in payload.items() if value is not None}
        return jwt.encode(present, self.key, algorithm=ALGORITHM, headers={"kid": key_id(self.key)})

    def metadata(self) -> Mapping[str, object]:
        """Metadata by RFC 8414, as far as a verifier needs it."""
        return {"issuer": self.url, "jwks_uri": f"{self.url}{JWKS}", "response_types_supported": []}

    def key_set(self) -> Mapping[str, object]:
        return {"keys": [{**_public(self.key), "kid": key_id(self.key), "use": "sig", "alg": ALGORITHM}]}


def load_or_create_key(file: Path) -> RSAPrivateKey:
    """Load the key from a file readable by its owner only, or create it."""
    if not file.exists():
        pem = generate_private_key(public_exponent=65_537, key_size=BITS).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        )
        # Written beside it first, so that an interrupted start leaves no partial key.
        part = file.with_suffix(".part")
        part.unlink(missing_ok=True)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(pem)
        part.rename(file)
    key = load_pem_private_key(file.read_bytes(), password=None)
    if not isinstance(key, RSAPrivateKey):
        raise TypeError(f"{file} has no RSA key")
    return key


def key_id(key: RSAPrivateKey) -> str:
    """Return the key's thumbprint (RFC 7638)."""
    members = {name: _public(key)[name] for name in ("e", "kty", "n")}
    canonical = json.dumps(members, separators=(",", ":"), sort_keys=True).encode()
    return base64.urlsafe_b64encode(hashlib.sha256(canonical).digest()).decode().rstrip("=")


def _public(key: RSAPrivateKey) -> Mapping[str, Any]:
    public: Mapping[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return public
