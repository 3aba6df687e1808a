"""Problem responses (``application/problem+json``, RFC 9457) as exceptions."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from session_store_client import errors

TYPE_PREFIX: Final = "/problems/"
STANDARD_MEMBERS: Final = frozenset({"type", "title", "status", "detail", "instance"})
MAX_RETRY_AFTER_SECONDS: Final = 3600

ERROR_BY_STATUS: Final[Mapping[int, type[errors.SessionStoreError]]] = {
    HTTPStatus.UNAUTHORIZED: errors.UnauthenticatedError,
    HTTPStatus.FORBIDDEN: errors.ForbiddenError,
    HTTPStatus.TOO_MANY_REQUESTS: errors.ThrottledError,
}
"""For responses that are no problem of the API: from a gateway or proxy in front of it."""

ERROR_BY_SLUG_AND_STATUS: Final[Mapping[tuple[str, int], type[errors.SessionStoreError]]] = {
    ("outcome-unknown", HTTPStatus.CONFLICT): errors.UnreconciledError,
}
"""409 is about the work behind a claim, 503 with the same slug about the call itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """``headers`` by lower-case name."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def error_from(response: HttpResponse) -> errors.SessionStoreError:
    """Return the exception for a response whose status is not a success."""
    problem = _problem(response)
    if problem is None:
        return _error_by_status(response)
    slug = str(problem["type"]).removeprefix(TYPE_PREFIX)
    detail, instance = problem.get("detail"), problem.get("instance")
    # A slug of a later version: its status still says whose fault it is.
    fallback = (
        errors.ServerError
        if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        else errors.SessionStoreError
    )
    kind = ERROR_BY_SLUG_AND_STATUS.get((slug, response.status)) or errors.ERROR_BY_SLUG.get(slug, fallback)
    return kind(
        str(detail or problem.get("title") or slug),
        slug=slug,
        status=response.status,
        request_id=instance if isinstance(instance, str) else None,
        facts={name: value for name, value in problem.items() if name not in STANDARD_MEMBERS},
    )


def retry_after_seconds(response: HttpResponse) -> float:
    """Return the seconds of ``Retry-After``; 0 when it is absent or a date."""
    text = response.headers.get("retry-after", "")
    return float(min(int(text), MAX_RETRY_AFTER_SECONDS)) if text.isascii() and text.isdecimal() else 0.0


def _problem(response: HttpResponse) -> dict[str, Any] | None:
    if not response.headers.get("content-type", "").startswith("application/problem+json"):
        return None
    try:
        problem = json.loads(response.body)
    except ValueError:
        return None
    is_ours = isinstance(problem, dict) and str(problem.get("type", "")).startswith(TYPE_PREFIX)
    return problem if is_ours else None


def _error_by_status(response: HttpResponse) -> errors.SessionStoreError:
    kind = ERROR_BY_STATUS.get(response.status)
    if kind is None:
        is_broken = response.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        kind = errors.ServerError if is_broken else errors.UnreadableAnswerError
    return kind(f"Status {response.status} without a problem document of the API", status=response.status)
