"""What the clean-up after a session needs."""

from collections.abc import Sequence
from typing import Protocol

from session_store.domain.credential import Credential
from session_store.domain.notice import Notice
from session_store.domain.session_end import SessionEnd


class CleanupQueue(Protocol):
    def send(self, end: SessionEnd) -> None:
        """Queue the clean-up after a session. Queued twice, it has the same effect as once."""
        ...


class SecretStorage(Protocol):
    def read(self, name: str) -> str | None:
        """Read the text of a secret. None where there is no such secret.

        Raises:
            UnavailableError: it could not be read now.
        """
        ...


class Revoker(Protocol):
    def revoke(self, credential: Credential) -> str | None:
        """Revoke a token at the authorization server. None when it is revoked, else why it cannot be.

        Raises:
            UnavailableError: the server did not answer, or asked to retry later.
        """
        ...


class EventBus(Protocol):
    def emit(self, notices: Sequence[Notice]) -> None:
        """Send notices, at most ``MAX_NOTICES`` at once.

        Raises:
            UndeliveredError: the bus did not accept all of them.
        """
        ...
