"""Events as API Gateway's REST APIs deliver them (Lambda proxy integration)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

BACKEND: Final = "arn:aws:sts::111122223333:assumed-role/backend/i-0abc"
REQUEST_ID: Final = "11111111-2222-4333-8444-555555555555"


def rest_event(
    method: str,
    path: str,
    *,
    body: object = None,
    headers: Mapping[str, str | Sequence[str]] | None = None,
    query: Mapping[str, str | Sequence[str]] | None = None,
    principal: str | None = BACKEND,
    authorizer: Mapping[str, str] | None = None,
    base64_encoded: bool = False,
) -> dict[str, Any]:
    """``body``: text goes as it is, anything else as JSON. ``path`` is percent-encoded.

    ``authorizer``: what an authorizer before the API says of the caller.
    """
    fields = _many(headers or {})
    parameters = _many(query or {})
    text = body if isinstance(body, str | None) else json.dumps(body)
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": {name: values[-1] for name, values in fields.items()} or None,
        "multiValueHeaders": fields or None,
        "queryStringParameters": {name: values[-1] for name, values in parameters.items()} or None,
        "multiValueQueryStringParameters": parameters or None,
        "pathParameters": None,
        "stageVariables": None,
        "requestContext": {
            "requestId": REQUEST_ID,
            "stage": "v1",
            "identity": {"userArn": principal, "sourceIp": "192.0.2.1"},
            **({} if authorizer is None else {"authorizer": dict(authorizer)}),
        },
        "body": text,
        "isBase64Encoded": base64_encoded,
    }


def _many(values: Mapping[str, str | Sequence[str]]) -> dict[str, list[str]]:
    return {name: [given] if isinstance(given, str) else list(given) for name, given in values.items()}
