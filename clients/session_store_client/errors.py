"""Exceptions of the client: one for each problem of the API, and those for calls that got no valid response.

No message, fact or repr contains a token, a signature or contents of a session.
"""

from collections.abc import Mapping
from typing import Any, Final


class SessionStoreError(Exception):
    """Base of all exceptions that a call raises.

    ``slug`` and ``status`` are the problem's, ``request_id`` identifies the request in the API's log; all
    None when there was no response. ``facts``: the problem's further members, named as in
    ``docs/openapi.json``.
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
        parts = [self.slug or "", f"request {self.request_id}" if self.request_id else ""]
        source = ", ".join(part for part in parts if part)
        return f"{self.detail} ({source})" if source else self.detail


class InvalidRequestError(SessionStoreError):
    """400: a value of the request is not valid; nothing was done."""

    @property
    def path(self) -> str | None:
        """The invalid value: ``$.state.a``, ``query limit``, ``header If-Match``."""
        return self.facts.get("path")


class UnauthenticatedError(SessionStoreError):
    """401: the credentials are unknown, expired or wrong."""


class ForbiddenError(SessionStoreError):
    """403: an IAM policy, a missing permission or a rule of the store forbids the call to this caller."""


class NotFoundError(SessionStoreError):
    """404: it does not exist, has expired, or belongs to another caller; the API does not tell which."""


class SessionNotFoundError(NotFoundError):
    """404 about the session itself."""


class VersionConflictError(SessionStoreError):
    """412, or 409 from ``complete_tool_call``: the session is at another version. Read it again."""

    @property
    def current_version(self) -> int | None:
        """The session's version when the call was refused."""
        return self.facts.get("currentVersion")


class SessionClosedError(SessionStoreError):
    """409: the session is closing or closed, and takes no such write."""


class InvalidTransitionError(SessionStoreError):
    """409: the status does not lead to the requested one; a status only moves forward."""


class AlreadyDecidedError(SessionStoreError):
    """409: the approval is decided the other way, cancelled or past its deadline; see fact ``taskStatus``."""


class ContentConflictError(SessionStoreError):
    """409: the id of a message or checkpoint is taken by other content."""


class InProgressError(SessionStoreError):
    """409: another attempt holds the lease, or the same request is still being processed."""


class FencedError(SessionStoreError):
    """409: another attempt has taken the work over, or it is settled. Stop working on it."""


class UnreconciledError(SessionStoreError):
    """409: an attempt whose lease expired (fact ``leaseUntil``) may have done the work: reconcile it."""


class PayloadTooLargeError(SessionStoreError):
    """413: facts ``limit`` and, if known, ``size`` are in bytes."""


class PayloadMissingError(SessionStoreError):
    """500: a large payload is missing or altered; facts ``size`` and ``sha256`` describe what was stored."""


class MisdirectedError(SessionStoreError):
    """421: the session, key or task belongs to another region, which alone writes it. Call that region."""

    @property
    def home_region(self) -> str | None:
        """The region to call."""
        return self.facts.get("homeRegion")


class IdempotencyMismatchError(SessionStoreError):
    """422: the key or id was used before with another body."""


class PreconditionRequiredError(SessionStoreError):
    """428: the call needs a version."""


class ThrottledError(SessionStoreError):
    """429 or 503: every attempt was refused for lack of capacity; nothing was done."""


class ServerError(SessionStoreError):
    """5xx for a call that is safe to repeat: it failed at every attempt."""


class OutcomeUnknownError(SessionStoreError):
    """A write may or may not have taken effect: a response was lost or unreadable, and no later one told.

    Read, then decide. ``__cause__`` is the last failure.
    """


class UnreachableError(SessionStoreError):
    """No response, and nothing was sent or the call is safe to repeat. ``__cause__``: httpx's error."""


class CredentialsError(SessionStoreError):
    """There are no usable credentials, or no region to sign for. Nothing was sent by this attempt."""


class UnreadableAnswerError(SessionStoreError):
    """The response does not match the API's contract: something else answered, or a version too different.

    Raised for a refusal, and for a call that is safe to repeat; a write that was answered with a success that
    cannot be read raises ``OutcomeUnknownError``.
    """


ERROR_BY_SLUG: Final[Mapping[str, type[SessionStoreError]]] = {
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
"""Every problem of the contract. An unknown slug is raised as ``SessionStoreError`` or ``ServerError``."""
