"""The errors of the store, as facts. The API's edge maps them to HTTP statuses."""

from typing import ClassVar, Final

SHOWN: Final = 256
"""Characters of a caller's text that an error repeats at most."""


class StoreError(Exception):
    """Base of every error that a use case raises for its caller.

    ``detail`` is a sentence for a person, ``facts`` are values for a program (JSON-serialisable, named as
    in the HTTP contract). Neither ever contains state, messages or tokens.
    """

    summary: ClassVar[str] = "The store could not do what was asked."

    def __init__(self, detail: str | None = None, **facts: object) -> None:
        self.detail = detail or self.summary
        self.facts = facts
        super().__init__(self.detail)


class InvalidRequestError(StoreError):
    """The request is malformed or out of range. Correct it; the same request always fails.

    Fact ``path`` says where: ``$.state.a``, ``header If-Match``.
    """

    summary = "The request is not valid."

    def __init__(self, detail: str, *, path: str, **facts: object) -> None:
        where = _shortened(path)
        super().__init__(f"{_shortened(detail)} (at {where})", path=where, **facts)


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


class UnauthenticatedError(StoreError):
    """The request has no valid credentials. Authenticate, then send it again."""

    summary = "The caller is not authenticated."


class ForbiddenError(StoreError):
    """The caller lacks the permission for this operation. Ask an administrator for it."""

    summary = "The caller is not allowed to do this."


class NotFoundError(StoreError):
    """There is no such item: it does not exist, has expired, or belongs to another caller.

    The three cases give the same answer, so that callers cannot probe for the items of others.
    """

    summary = "There is no such item."


class SessionNotFoundError(NotFoundError):
    """There is no such session: it does not exist, has expired, or belongs to another caller."""

    summary = "There is no such session."


class VersionConflictError(StoreError):
    """The version in If-Match is not the current one: another write came first.

    Read the session, reapply the change and send it with fact ``currentVersion``.
    """

    summary = "The session has another version than expected."

    def __init__(self, *, current_version: int) -> None:
        super().__init__(currentVersion=current_version)
        self.current_version = current_version


class UnexpectedVersionError(VersionConflictError):
    """As ``VersionConflictError``, for a version that the body of the request expects."""


class SessionClosedError(StoreError):
    """The session is closing or closed and does not accept this write; fact ``sessionStatus``.

    Use another session: a status never goes back.
    """

    summary = "The session does not accept this write."

    def __init__(self, *, status: str) -> None:
        super().__init__(f"The session is {status} and does not accept this write.", sessionStatus=status)


class InvalidTransitionError(StoreError):
    """The status that was asked for cannot be entered from the current one; facts ``from`` and ``to``."""

    summary = "This status cannot be entered from the current one."

    def __init__(self, *, from_status: str, to: str, what: str = "A session") -> None:
        super().__init__(f"{what} cannot go from {from_status} to {to}.", **{"from": from_status, "to": to})


class AlreadyDecidedError(StoreError):
    """The approval was decided the other way, cancelled, or has expired; fact ``taskStatus``.

    The decision stands: do not send it again.
    """

    summary = "The approval can no longer be decided."

    def __init__(self, *, status: str) -> None:
        super().__init__(f"The approval is already {status}.", taskStatus=status)


class MisdirectedError(StoreError):
    """Only the item's home region may write it, and this is another one.

    Send the request to the region in fact ``homeRegion``.
    """

    summary = "The home region of this item is another one."

    def __init__(self, *, home_region: str) -> None:
        super().__init__(homeRegion=home_region)


class ContentConflictError(StoreError):
    """An id already exists with other content; fact ``messageIds`` or ``checkpointId``.

    Use a new id, or send the content that was sent first.
    """

    summary = "The id is already used for other content."


class IdempotencyMismatchError(StoreError):
    """A key or call id was used before with another request. Use a new one for a new request."""

    summary = "The key or id was used before with another request."


class InProgressError(StoreError):
    """Another attempt holds the lease on this work. Wait for ``retryAfter`` seconds, then try again.

    Facts ``leaseUntil`` and ``retryAfter``, if known.
    """

    summary = "The work is in progress."


class FencedError(StoreError):
    """The fence is stale: another attempt has taken over, or the work is settled.

    Stop the work and discard its result.
    """

    summary = "Another attempt has taken over this work, or it is settled."


class UnreconciledError(StoreError):
    """The lease has expired, and the work may have had its side effect; fact ``leaseUntil``.

    Find out whether it had, then reconcile.
    """

    summary = "The last attempt may have acted. Find out whether it did, reconcile, then go on."


class PayloadTooLargeError(StoreError):
    """A size limit is exceeded, and nothing was written. Send less, or split it.

    Facts ``limit`` and, if known, ``size``, in bytes.
    """

    summary = "The payload is too large."


class PayloadMissingError(StoreError):
    """The object of a large payload is missing or altered. An operator has to look into the payload bucket.

    Facts ``size`` and ``sha256``: of the payload as it was stored.
    """

    summary = "A large payload of this session is missing or altered."


class PreconditionRequiredError(StoreError):
    """The operation needs If-Match. Read the session, then send its version."""

    summary = "The request must carry If-Match with the version that it changes."


class ThrottledError(StoreError):
    """Throttling or contention lasted until the deadline, or a service did not answer.

    Nothing was done; try again later.
    """

    summary = "The store is busy; nothing was done."


class OutcomeUnknownError(StoreError):
    """The response to a write was lost, so the write may or may not have happened.

    Under an idempotency key send the same request again; without one read, then decide.
    """

    summary = (
        "The response of the database was lost: the write may or may not have happened. Read, then decide."
    )


class ConfigurationError(Exception):
    """A setting is missing or invalid; the message names it. Raised at start, never while serving."""


class UnreadableRecordError(Exception):
    """A stream record is not in a known form; it goes to quarantine. The message quotes nothing of it."""


class SessionStillThereError(Exception):
    """A clean-up was requested for a session that has not ended. Nothing is erased; a retry follows."""


class UnfinishedError(Exception):
    """Work is left when time or throughput runs out; the next delivery of the message continues it."""


class UnavailableError(Exception):
    """A dependency did not answer, or asked to be retried later; the next delivery tries again."""


class UndeliveredError(Exception):
    """The event bus did not take every event. Send all again: receivers drop duplicates by ``event_id``."""


class UnsettledError(Exception):
    """A block of work ended without complete or fail, or was asked for an outcome before it had one."""

    def __init__(self) -> None:
        super().__init__("The work has no outcome: neither complete nor fail has succeeded.")


class WorkFailedError(Exception):
    """The work of a block has failed, now or in an earlier attempt; ``error`` is the recorded error."""

    def __init__(self, error: object) -> None:
        super().__init__("The work has failed.")
        self.error = error
