"""Revocation of the credentials that a session refers to, after its end."""

from msgspec import Struct

from session_store.domain.credential import Credential, Revocation, secret_name
from session_store.domain.json_values import parse
from session_store.errors import InvalidRequestError
from session_store.ports import Revoker, SecretStorage


class Revocations(Struct, frozen=True, kw_only=True):
    """``prefix``: what the names of all tenants' secrets begin with. ``revoker`` None: none is configured."""

    secrets: SecretStorage
    revoker: Revoker | None
    prefix: str

    def revoke(self, tenant: str, reference: str) -> Revocation:
        """Revoke the token in the secret that ``reference`` names within the tenant's prefix.

        The server treats an unknown token as revoked (RFC 7009, 2.2), so repeating is harmless.

        Raises:
            UnavailableError: to be tried again later.
        """
        return Revocation(reference=reference, failure=self._failure(tenant, reference))

    def _failure(self, tenant: str, reference: str) -> str | None:
        if self.revoker is None:
            return "no revocation endpoint is configured"
        try:
            name = secret_name(self.prefix, tenant, reference)
        except InvalidRequestError:
            return "malformed reference"
        text = self.secrets.read(name)
        if text is None:
            return "no such secret"
        credential = _credential(text)
        if credential is None:
            return 'the secret is not of the form {"token": ..., "tokenTypeHint"?: ...}'
        return self.revoker.revoke(credential)


def _credential(text: str) -> Credential | None:
    try:
        secret = parse(text)
    except InvalidRequestError:
        return None
    if not isinstance(secret, dict):
        return None
    token, hint = secret.get("token"), secret.get("tokenTypeHint")
    if not isinstance(token, str) or not token or not isinstance(hint, str | None):
        return None
    return Credential(token=token, token_type_hint=hint)
