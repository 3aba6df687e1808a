"""Errors as ``application/problem+json`` (RFC 9457): the one table of HTTP statuses.

The text below each problem is its description in the OpenAPI document.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from session_store import errors
from session_store.domain.json_values import encode

CONTENT_TYPE: Final = "application/problem+json"


class Problem(Struct, frozen=True):
    """A kind of refusal. ``slug`` ends its ``type``."""

    slug: str
    status: int
    title: str


INVALID: Final = Problem("invalid-request", 400, "Invalid request")
"""The request is malformed: `path` says where, `detail` what is allowed there."""

UNAUTHENTICATED: Final = Problem("unauthenticated", 401, "Unauthenticated")
"""The request carries no valid signature or token."""

FORBIDDEN: Final = Problem("forbidden", 403, "Forbidden")
"""The caller may not do this."""

NOT_FOUND: Final = Problem("not-found", 404, "Not found")
"""There is no such item, it has expired, or it is not the caller's."""

SESSION_NOT_FOUND: Final = Problem("session-not-found", 404, "Session not found")
"""There is no such session, it has ended, or it is not the caller's."""

VERSION_CONFLICT: Final = Problem("version-conflict", 412, "Version conflict")
"""The session has another version than `If-Match` expects: `currentVersion`. Nothing was written."""

SESSION_CLOSED: Final = Problem("session-closed", 409, "Session closed")
"""The session's status, `sessionStatus`, does not admit this write."""

INVALID_TRANSITION: Final = Problem("invalid-transition", 409, "Invalid transition")
"""The status `to` cannot be entered from the current one, `from`."""

CONTENT_CONFLICT: Final = Problem("content-conflict", 409, "Content conflict")
"""An id is stored with other content: `messageIds` or `checkpointId`."""

UNEXPECTED_VERSION: Final = Problem("version-conflict", 409, "Version conflict")
"""The session has another version than `expectedVersion`: `currentVersion`. Nothing was written."""

IN_PROGRESS: Final = Problem("in-progress", 409, "In progress")
"""Another attempt holds the lease until `leaseUntil`, where known. `Retry-After` says when to try again."""

ALREADY_DECIDED: Final = Problem("already-decided", 409, "Already decided")
"""The approval was decided the other way, cancelled, or is past its deadline: `taskStatus`."""

FENCED: Final = Problem("fenced", 409, "Fenced")
"""The fence is not the current one: another attempt has taken over, or the work is settled."""

UNRECONCILED: Final = Problem("outcome-unknown", 409, "Outcome unknown")
"""A lease expired without an outcome, at `leaseUntil`: the work may have been done. Reconcile it first."""

TOO_LARGE: Final = Problem("payload-too-large", 413, "Payload too large")
"""A payload or the whole request exceeds `limit`. Nothing was written."""

MISDIRECTED: Final = Problem("misdirected", 421, "Misdirected request")
"""Another region must serve this request: `homeRegion`. Send it there."""

MISMATCH: Final = Problem("idempotency-mismatch", 422, "Idempotency mismatch")
"""The same key or id was used with another request."""

PRECONDITION_REQUIRED: Final = Problem("precondition-required", 428, "Precondition required")
"""`If-Match` is required."""

INTERNAL: Final = Problem("internal", 500, "Internal error")
"""An unexpected error; the log has it under the request's id."""

PAYLOAD_MISSING: Final = Problem("payload-missing", 500, "Payload missing")
"""A large payload is not stored as its item says: `size` and `sha256` of the one expected."""

THROTTLED: Final = Problem("throttled", 503, "Throttled")
"""The store is busy and nothing was written. Try again after `Retry-After`."""

OUTCOME_UNKNOWN: Final = Problem("outcome-unknown", 503, "Outcome unknown")
"""The database's response was lost: the write may or may not have happened. Read, then decide, or repeat a
request that is safe to repeat."""
PROBLEMS: Final[dict[type[errors.StoreError], Problem]] = {
    errors.InvalidRequestError: INVALID,
    errors.UnauthenticatedError: UNAUTHENTICATED,
    errors.ForbiddenError: FORBIDDEN,
    errors.NotFoundError: NOT_FOUND,
    errors.SessionNotFoundError: SESSION_NOT_FOUND,
    errors.VersionConflictError: VERSION_CONFLICT,
    errors.SessionClosedError: SESSION_CLOSED,
    errors.InvalidTransitionError: INVALID_TRANSITION,
    errors.ContentConflictError: CONTENT_CONFLICT,
    errors.UnexpectedVersionError: UNEXPECTED_VERSION,
    errors.InProgressError: IN_PROGRESS,
    errors.AlreadyDecidedError: ALREADY_DECIDED,
    errors.FencedError: FENCED,
    errors.UnreconciledError: UNRECONCILED,
    errors.PayloadTooLargeError: TOO_LARGE,
    errors.PayloadMissingError: PAYLOAD_MISSING,
    errors.MisdirectedError: MISDIRECTED,
    errors.IdempotencyMismatchError: MISMATCH,
    errors.PreconditionRequiredError: PRECONDITION_REQUIRED,
    errors.ThrottledError: THROTTLED,
    errors.OutcomeUnknownError: OUTCOME_UNKNOWN,
}

RETRY_AFTER: Final = {THROTTLED: 1, IN_PROGRESS: 1}
"""Seconds to wait before trying again, where that can help and the facts do not say how long."""


def problem_of(error: errors.StoreError) -> Problem:
    return PROBLEMS[type(error)]


def problem_body(problem: Problem, *, detail: str, instance: str, facts: dict[str, Any]) -> str:
    """The body of a problem; ``instance`` is the id of the request."""
    return encode(
        {
            **facts,
            "type": f"/problems/{problem.slug}",
            "title": problem.title,
            "status": problem.status,
            "detail": detail,
            "instance": instance,
        }
    ).decode()


def problem_headers(problem: Problem, facts: Mapping[str, object]) -> dict[str, str]:
    """Retry-After, where waiting can help: as long as the facts say, if they do."""
    retry_after = facts.get("retryAfter", RETRY_AFTER.get(problem))
    return {} if retry_after is None else {"Retry-After": str(retry_after)}
