"""What can go wrong: one exception for each problem of the API, and those of the way to it.

No message, fact or repr holds a token, a signature or what a session holds.
"""

from collections.abc import Mapping
from typing import Any, Final


class SessionStoreError(Exception):
    """Root of all that the client raises of a call.

    ``slug`` and ``status`` are the problem's, ``request_id`` is what the API's log calls the request; None
    where nothing was answered. ``facts`` are values for a program, named as in the contract.
    """

    def __init__(
        self,
        detail: str,
        *,
        slug: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.slug = slug
        self.status = status
        self.request_id = request_id
        self.facts: Mapping[str, Any] = facts or {}

    def __str__(self) -> str:
        told = [self.slug or "", f"request {self.request_id}" if self.request_id else ""]
        named = ", ".join(part for part in told if part)
        return f"{self.detail} ({named})" if named else self.detail


class InvalidRequestError(SessionStoreError):
    @property
    def path(self) -> str | None:
        """What is wrong: ``$.state.a``, ``query limit``, ``header If-Match``."""
        return self.facts.get("path")


class UnauthenticatedError(SessionStoreError):
    """The credentials are unknown, expired, or do not fit."""


class ForbiddenError(SessionStoreError):
    """A policy, or the store, does not let this caller do this."""


class NotFoundError(SessionStoreError):
    """Absent, expired, or somebody else's: the three are told apart nowhere."""


class SessionNotFoundError(NotFoundError):
    """As ``NotFoundError``, of the session itself."""


class VersionConflictError(SessionStoreError):
    """Somebody wrote in between: read, and decide anew."""

    @property
    def current_version(self) -> int | None:
        return self.facts.get("currentVersion")


class SessionClosedError(SessionStoreError):
    """The session's status admits no such write."""


class InvalidTransitionError(SessionStoreError):
    """A status moves forward only."""


class AlreadyDecidedError(SessionStoreError):
    """An approval is decided the other way, withdrawn or past its deadline; fact ``taskStatus``."""


class ContentConflictError(SessionStoreError):
    """The id of a message or a checkpoint is taken by another content."""


class InProgressError(SessionStoreError):
    """The same call is being done just now."""


class FencedError(SessionStoreError):
    """Another attempt has taken the work over, or it is settled: do not go on."""


class UnreconciledError(SessionStoreError):
    """An attempt that is gone may have done the work; fact ``leaseUntil``. Find out, and reconcile."""


class PayloadTooLargeError(SessionStoreError):
    """Facts ``limit`` and, where known, ``size``, in bytes."""


class PayloadMissingError(SessionStoreError):
    """A large payload is not as it was stored; facts ``size`` and ``sha256`` say what it was."""


class MisdirectedError(SessionStoreError):
    """The session is at home in another region, which alone writes it."""

    @property
    def home_region(self) -> str | None:
        return self.facts.get("homeRegion")


class IdempotencyMismatchError(SessionStoreError):
    """The id was used before with another body."""


class PreconditionRequiredError(SessionStoreError):
    """The call needs a version."""


class ThrottledError(SessionStoreError):
    """Refused for now, at every attempt; nothing was done."""


class ServerError(SessionStoreError):
    """The API could not answer a call that changes nothing, or that a repetition does no harm."""


class OutcomeUnknownError(SessionStoreError):
    """A write may or may not have happened: its answer was lost, and nothing that came later tells.

    Read, then decide. ``__cause__`` is the last that was heard.
    """


class UnreachableError(SessionStoreError):
    """No answer came: nothing was sent, or it was a call whose repetition does no harm."""


class CredentialsError(SessionStoreError):
    """There are no credentials to call with, or no region to sign for."""


class UnreadableAnswerError(SessionStoreError):
    """What answered does not speak the API's contract."""


OF_SLUG: Final[Mapping[str, type[SessionStoreError]]] = {
    "invalid-request": InvalidRequestError,
    "unauthenticated": UnauthenticatedError,
    "forbidden": ForbiddenError,
    "not-found": NotFoundError,
    "session-not-found": SessionNotFoundError,
    "version-conflict": VersionConflictError,
    "session-closed": SessionClosedError,
    "invalid-transition": InvalidTransitionError,
    "content-conflict": ContentConflictError,
    "in-progress": InProgressError,
    "already-decided": AlreadyDecidedError,
    "fenced": FencedError,
    "payload-too-large": PayloadTooLargeError,
    "payload-missing": PayloadMissingError,
    "misdirected": MisdirectedError,
    "idempotency-mismatch": IdempotencyMismatchError,
    "precondition-required": PreconditionRequiredError,
    "throttled": ThrottledError,
    "internal": ServerError,
    "outcome-unknown": OutcomeUnknownError,
}
"""Every problem of the contract; a later one that is not here is the root itself."""
