"""API Gateway's own error responses, in the form of the function's: application/problem+json."""

import json
from dataclasses import dataclass, replace
from typing import Final

from aws_cdk import aws_apigateway as apigateway

_QUOTED_MESSAGE: Final = "$context.error.messageString"
"""Rendered with its quotes, so it is a JSON value in the template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    slug: str
    title: str
    status: int
    detail: str | None = None
    """None: API Gateway's own message."""
    retry_after: int | None = None
    """Seconds."""
    challenge: str | None = None
    """The WWW-Authenticate challenge (RFC 9110, 11.6.1)."""

    @property
    def template(self) -> str:
        body = {
            "type": f"/problems/{self.slug}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail or _QUOTED_MESSAGE,
            "instance": "$context.requestId",
        }
        return json.dumps(body).replace(f'"{_QUOTED_MESSAGE}"', _QUOTED_MESSAGE)

    @property
    def headers(self) -> dict[str, str]:
        headers = {"Content-Type": "'application/problem+json'"}
        if self.retry_after is not None:
            headers["Retry-After"] = f"'{self.retry_after}'"
        if self.challenge is not None:
            headers["WWW-Authenticate"] = f"'{self.challenge}'"
        return headers


_UNAUTHENTICATED: Final = Problem(slug="unauthenticated", title="Unauthenticated", status=401)
_THROTTLED: Final = Problem(slug="throttled", title="Throttled", status=429, retry_after=1)
_INVALID: Final = Problem(slug="invalid-request", title="Invalid request", status=400)
_INTERNAL: Final = Problem(
    slug="internal", title="Internal error", status=500, detail="The request failed unexpectedly."
)
_LATE: Final = Problem(
    slug="internal",
    title="Internal error",
    status=504,
    detail="The request may or may not have taken effect.",
)

PROBLEMS: Final = {
    "MISSING_AUTHENTICATION_TOKEN": _UNAUTHENTICATED,
    "INVALID_SIGNATURE": _UNAUTHENTICATED,
    "EXPIRED_TOKEN": _UNAUTHENTICATED,
    # From an authorizer only: no token, or one that was refused.
    "UNAUTHORIZED": replace(_UNAUTHENTICATED, challenge="Bearer"),
    "ACCESS_DENIED": Problem(slug="forbidden", title="Forbidden", status=403),
    "WAF_FILTERED": Problem(
        slug="forbidden",
        title="Forbidden",
        status=403,
        detail="The web ACL blocked this request, or too many requests came from this address.",
    ),
    "RESOURCE_NOT_FOUND": Problem(slug="not-found", title="Not found", status=404),
    "REQUEST_TOO_LARGE": Problem(slug="payload-too-large", title="Payload too large", status=413),
    "THROTTLED": _THROTTLED,
    "QUOTA_EXCEEDED": _THROTTLED,
    "BAD_REQUEST_BODY": _INVALID,
    "BAD_REQUEST_PARAMETERS": _INVALID,
    # Errors without a type of their own: an unknown access key, an incomplete signature.
    "DEFAULT_4XX": _UNAUTHENTICATED,
    "INTEGRATION_TIMEOUT": _LATE,
    "INTEGRATION_FAILURE": _LATE,
    "DEFAULT_5XX": _INTERNAL,
}


def add_gateway_responses(api: apigateway.RestApi) -> None:
    for name, problem in PROBLEMS.items():
        api.add_gateway_response(
            name.title().replace("_", ""),
            type=apigateway.ResponseType.of(name),
            status_code=str(problem.status),
            response_headers=problem.headers,
            # API Gateway renders this template whatever the request accepts; the header above names the type.
            templates={"application/json": problem.template},
        )
