"""What follows the end of a session."""

from collections.abc import Sequence
from typing import Protocol

from session_store.domain.credential import Credential
from session_store.domain.notice import Notice
from session_store.domain.session_end import SessionEnd


class CleanupQueue(Protocol):
    def send(self, end: SessionEnd) -> None:
        """Ask for the clean-up after a session. Asked twice, it is done once."""
        ...


class SecretStorage(Protocol):
    def read(self, name: str) -> str | None:
        """The text of a secret; None where there is no such secret.

        Raises:
            UnavailableError: it could not be asked now.
        """
        ...


class Revoker(Protocol):
    def revoke(self, credential: Credential) -> str | None:
        """Revoke a token at the authorization server; None when it is revoked, else why it cannot be.

        Raises:
            UnavailableError: the server asks to be tried again, or does not answer.
        """
        ...


class EventBus(Protocol):
    def emit(self, notices: Sequence[Notice]) -> None:
        """Send the notices, at most ``MAX_NOTICES`` at once.

        Raises:
            UndeliveredError: the bus did not take all of them.
        """
        ...
