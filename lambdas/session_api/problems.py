"""Errors as ``application/problem+json`` (RFC 9457): the one table of HTTP statuses."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from session_store import errors
from session_store.domain.json_values import encode

CONTENT_TYPE: Final = "application/problem+json"


class Problem(Struct, frozen=True):
    """``slug`` ends the problem's ``type``; ``title`` says the same to people."""

    slug: str
    status: int
    title: str


INVALID: Final = Problem("invalid-request", 400, "Invalid request")
UNAUTHENTICATED: Final = Problem("unauthenticated", 401, "Unauthenticated")
FORBIDDEN: Final = Problem("forbidden", 403, "Forbidden")
NOT_FOUND: Final = Problem("not-found", 404, "Not found")
SESSION_NOT_FOUND: Final = Problem("session-not-found", 404, "Session not found")
VERSION_CONFLICT: Final = Problem("version-conflict", 412, "Version conflict")
SESSION_CLOSED: Final = Problem("session-closed", 409, "Session closed")
INVALID_TRANSITION: Final = Problem("invalid-transition", 409, "Invalid transition")
CONTENT_CONFLICT: Final = Problem("content-conflict", 409, "Content conflict")
UNEXPECTED_VERSION: Final = Problem("version-conflict", 409, "Version conflict")
IN_PROGRESS: Final = Problem("in-progress", 409, "In progress")
ALREADY_DECIDED: Final = Problem("already-decided", 409, "Already decided")
FENCED: Final = Problem("fenced", 409, "Fenced")
UNRECONCILED: Final = Problem("outcome-unknown", 409, "Outcome unknown")
TOO_LARGE: Final = Problem("payload-too-large", 413, "Payload too large")
MISDIRECTED: Final = Problem("misdirected", 421, "Misdirected request")
MISMATCH: Final = Problem("idempotency-mismatch", 422, "Idempotency mismatch")
PRECONDITION_REQUIRED: Final = Problem("precondition-required", 428, "Precondition required")
INTERNAL: Final = Problem("internal", 500, "Internal error")
PAYLOAD_MISSING: Final = Problem("payload-missing", 500, "Payload missing")
THROTTLED: Final = Problem("throttled", 503, "Throttled")
OUTCOME_UNKNOWN: Final = Problem("outcome-unknown", 503, "Outcome unknown")

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
"""Seconds to wait where trying again can help."""


def problem_of(error: errors.StoreError) -> Problem:
    return PROBLEMS[type(error)]


def problem_body(problem: Problem, *, detail: str, instance: str, facts: dict[str, Any]) -> str:
    """The body of the answer; ``instance`` is the id of the request."""
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
    """Where the facts say how long to wait, that long."""
    retry_after = facts.get("retryAfter", RETRY_AFTER.get(problem))
    return {} if retry_after is None else {"Retry-After": str(retry_after)}
