"""Refusals as exceptions: ``application/problem+json`` (RFC 9457), and what stands for it on the way."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from session_store_client import errors

KIND: Final = "/problems/"
MEMBERS: Final = frozenset({"type", "title", "status", "detail", "instance"})
LONGEST_WAIT: Final = 3600

UNTOLD: Final[Mapping[int, type[errors.SessionStoreError]]] = {
    HTTPStatus.UNAUTHORIZED: errors.UnauthenticatedError,
    HTTPStatus.FORBIDDEN: errors.ForbiddenError,
    HTTPStatus.TOO_MANY_REQUESTS: errors.ThrottledError,
}
"""What a status says by itself, where something before the API refused in words of its own."""


TOLD_APART: Final[Mapping[tuple[str, int], type[errors.SessionStoreError]]] = {
    ("outcome-unknown", HTTPStatus.CONFLICT): errors.UnreconciledError,
}
"""One slug, two statuses: of the work behind a claim, where 503 is of the call itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """``headers`` by lower-case name."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def error_of(answer: Received) -> errors.SessionStoreError:
    """The exception that an answer other than success means."""
    problem = _problem(answer)
    if problem is None:
        return _untold(answer)
    slug = str(problem["type"]).removeprefix(KIND)
    detail, instance = problem.get("detail"), problem.get("instance")
    # A late gateway says "internal" as the function does; a slug that is not known says what its status does.
    fallback = (
        errors.ServerError if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR else errors.SessionStoreError
    )
    kind = TOLD_APART.get((slug, answer.status)) or errors.OF_SLUG.get(slug, fallback)
    return kind(
        str(detail or problem.get("title") or slug),
        slug=slug,
        status=answer.status,
        request_id=instance if isinstance(instance, str) else None,
        facts={name: value for name, value in problem.items() if name not in MEMBERS},
    )


def retry_after(answer: Received) -> float:
    """Seconds; 0 where it does not say, or names a date."""
    text = answer.headers.get("retry-after", "")
    return float(min(int(text), LONGEST_WAIT)) if text.isascii() and text.isdecimal() else 0.0


def _problem(answer: Received) -> dict[str, Any] | None:
    if not answer.headers.get("content-type", "").startswith("application/problem+json"):
        return None
    try:
        problem = json.loads(answer.body)
    except ValueError:
        return None
    is_ours = isinstance(problem, dict) and str(problem.get("type", "")).startswith(KIND)
    return problem if is_ours else None


def _untold(answer: Received) -> errors.SessionStoreError:
    kind = UNTOLD.get(answer.status)
    if kind is None:
        is_broken = answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        kind = errors.ServerError if is_broken else errors.UnreadableAnswerError
    return kind(f"Answered {answer.status}, and not in the words of the API", status=answer.status)
