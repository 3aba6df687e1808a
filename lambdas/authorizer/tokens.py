"""Verification of bearer tokens (RFC 7519, RFC 8725), and the caller that a token names."""

from collections.abc import Mapping
from typing import Any, Final

import jwt
from msgspec import Struct

from authorizer.key_ring import KeyRing
from authorizer.settings import JwtSettings
from session_store.domain.caller import NO_SUBJECT, Caller, Permission
from session_store.domain.identifiers import check_identifier
from session_store.errors import InvalidRequestError

MAX_TOKEN: Final = 8192
"""Characters. API Gateway accepts some 10 KB of headers in all."""

MAX_KEY_ID: Final = 256
MAX_SUBJECT: Final = 255
"""Characters of ``sub`` (OpenID Connect Core 1.0, 2)."""

LEEWAY: Final = 30
"""Seconds by which the clocks of the issuer and of this function may differ."""

REQUIRED: Final = ("iss", "aud", "exp", "sub")


class RefusedTokenError(Exception):
    """A token that is not accepted. The message is the reason and quotes nothing of the token."""


class Verifier(Struct, frozen=True, kw_only=True):
    settings: JwtSettings
    keys: KeyRing

    def verify(self, token: str) -> Caller:
        """Verify a token, and return the caller that it names.

        Raises:
            RefusedTokenError: this deployment does not accept it.
            UnavailableError: its key cannot be fetched, so it was not verified.
        """
        if len(token) > MAX_TOKEN:
            raise RefusedTokenError("oversized")
        claims = self._claims(token, self._key(token))
        return Caller(
            tenant=f"{self.settings.issuer}#{_identifier(claims, self.settings.organisation_claim)}",
            subject=_subject(claims),
            permissions=_permissions(claims),
        )

    def _key(self, token: str) -> jwt.PyJWK:
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, UnicodeEncodeError) as error:
            raise RefusedTokenError("malformed") from error
        algorithm, key_id = header.get("alg"), header.get("kid")
        if algorithm not in self.settings.algorithms:
            raise RefusedTokenError("algorithm")
        if not isinstance(key_id, str) or not 0 < len(key_id) <= MAX_KEY_ID:
            raise RefusedTokenError("no key id")
        key = self.keys.find(key_id)
        if key is None:
            raise RefusedTokenError("unknown key")
        if key.get("alg", algorithm) != algorithm:
            raise RefusedTokenError("algorithm of another key")
        try:
            return jwt.PyJWK.from_dict(dict(key), algorithm)
        except jwt.PyJWTError as error:
            raise RefusedTokenError("algorithm of another key") from error

    def _claims(self, token: str, key: jwt.PyJWK) -> Mapping[str, Any]:
        options: jwt.types.Options = {"require": list(REQUIRED), "enforce_minimum_key_length": True}
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(self.settings.algorithms),
                audience=list(self.settings.audience),
                issuer=self.settings.issuer,
                leeway=LEEWAY,
                options=options,
            )
        except jwt.PyJWTError as error:
            raise RefusedTokenError(type(error).__name__) from error
        return claims


def _subject(claims: Mapping[str, Any]) -> str:
    subject = _identifier(claims, "sub")
    if subject == NO_SUBJECT:
        raise RefusedTokenError("sub")
    return subject


def _identifier(claims: Mapping[str, Any], claim: str) -> str:
    """A claim that must be a valid identifier. One that is not is refused, not hashed: audits show it."""
    value = claims.get(claim)
    if not isinstance(value, str):
        raise RefusedTokenError(claim)
    try:
        return check_identifier(value, path=claim, longest=MAX_SUBJECT)
    except InvalidRequestError as error:
        raise RefusedTokenError(claim) from error


def _permissions(claims: Mapping[str, Any]) -> frozenset[Permission]:
    """Permissions from ``scope`` (RFC 8693, 4.2), or from ``scp``, text or list, as some issuers have it."""
    granted = claims.get("scope", claims.get("scp", ""))
    scopes = granted.split(" ") if isinstance(granted, str) else granted if isinstance(granted, list) else []
    return frozenset(permission for permission in Permission if permission.value in scopes)
