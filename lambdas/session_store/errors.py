"""What can go wrong, as facts. HTTP statuses are given at the edge, not here."""

from typing import ClassVar, Final

SHOWN: Final = 256
"""Characters of a path or a detail that an error repeats."""


class StoreError(Exception):
    """Root of every error that a use case raises.

    ``detail`` is a sentence for a person; ``facts`` are values for a program
    (JSON-serialisable, named as in ``api.md``). Neither ever holds state,
    messages or tokens.
    """

    summary: ClassVar[str] = "The store could not do what was asked."

    def __init__(self, detail: str | None = None, **facts: object) -> None:
        self.detail = detail or self.summary
        self.facts = facts
        super().__init__(self.detail)


class InvalidRequestError(StoreError):
    """The request is malformed; fact ``path`` says where (``$.state.a``, ``header If-Match``)."""

    summary = "The request is not valid."

    def __init__(self, detail: str, *, path: str, **facts: object) -> None:
        where = _short(path)
        super().__init__(f"{_short(detail)} (at {where})", path=where, **facts)


def _short(text: str) -> str:
    """No more of what a caller sent than tells the place."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


class UnauthenticatedError(StoreError):
    summary = "The caller is not known."


class ForbiddenError(StoreError):
    summary = "The caller may not do this."


class NotFoundError(StoreError):
    """Absent, expired, or somebody else's: the three are told apart nowhere."""

    summary = "There is no such thing."


class SessionNotFoundError(NotFoundError):
    """Absent, expired, or somebody else's session."""

    summary = "There is no such session."


class VersionConflictError(StoreError):
    """Somebody wrote in between; fact ``currentVersion``."""

    summary = "The session has another version than expected."

    def __init__(self, *, current_version: int) -> None:
        super().__init__(currentVersion=current_version)
        self.current_version = current_version


class UnexpectedVersionError(VersionConflictError):
    """The version that a body expects, where ``VersionConflictError`` is of an If-Match."""


class SessionClosedError(StoreError):
    """The session's status admits no such write; fact ``sessionStatus``."""

    summary = "The session takes no more writes."

    def __init__(self, *, status: str) -> None:
        super().__init__(f"The session is {status} and takes no such write.", sessionStatus=status)


class InvalidTransitionError(StoreError):
    """Facts ``from`` and ``to``."""

    summary = "It cannot go from its status to the one asked for."

    def __init__(self, *, from_status: str, to: str, what: str = "A session") -> None:
        super().__init__(f"{what} cannot go from {from_status} to {to}.", **{"from": from_status, "to": to})


class AlreadyDecidedError(StoreError):
    """An approval is decided the other way, or over otherwise; fact ``taskStatus``."""

    summary = "The approval is not to be decided any more."

    def __init__(self, *, status: str) -> None:
        super().__init__(f"The approval is {status}.", taskStatus=status)


class MisdirectedError(StoreError):
    """The item is at home in another region, which alone writes it; fact ``homeRegion``."""

    summary = "The session is at home in another region."

    def __init__(self, *, home_region: str) -> None:
        super().__init__(homeRegion=home_region)


class ContentConflictError(StoreError):
    """An id is taken by another content; fact ``messageIds``, or ``checkpointId``."""

    summary = "An id is already taken by another content."


class IdempotencyMismatchError(StoreError):
    summary = "The same id was used before with another body."


class InProgressError(StoreError):
    """Facts ``leaseUntil`` and ``retryAfter`` (seconds until then), where known."""

    summary = "The work is in progress."


class FencedError(StoreError):
    """Another attempt has taken the work over, or it is settled: whoever asks holds it no more."""

    summary = "The work is held by another attempt, or it is settled."


class UnreconciledError(StoreError):
    """The attempt that held the work is gone, and its side effect may have happened; fact ``leaseUntil``."""

    summary = "The attempt before may have acted. Find out, reconcile, then go on."


class PayloadTooLargeError(StoreError):
    """Facts ``limit`` and, where known, ``size`` in bytes."""

    summary = "The payload is too large."


class PayloadMissingError(StoreError):
    """What an item refers to is not as it was put there; facts ``size`` and ``sha256`` say what it was."""

    summary = "A large payload of this session cannot be found as it was stored."


class PreconditionRequiredError(StoreError):
    summary = "The request must carry If-Match with the version it changes."


class ThrottledError(StoreError):
    """Nothing was done; try again."""

    summary = "The store is busy; nothing was done."


class OutcomeUnknownError(StoreError):
    """The answer to a write was lost; it may or may not have happened."""

    summary = (
        "The answer of the database was lost: the write may or may not have happened. Read, then decide."
    )


class ConfigurationError(Exception):
    """A setting is missing or wrong. Raised at start, never while serving."""


class UnreadableRecordError(Exception):
    """A record of the stream that cannot be understood; the message says why and quotes nothing."""


class SessionStillThereError(Exception):
    """A clean-up was asked for a session that has not ended."""


class UnfinishedError(Exception):
    """Work is left, and no time or no throughput for it now; the next delivery goes on."""


class UnavailableError(Exception):
    """Something that the work needs did not answer, or asked to be tried again later."""


class UndeliveredError(Exception):
    """The event bus did not take every event; those it did take may come again."""
