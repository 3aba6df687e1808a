"""The OpenAPI 3.1 document of the declared operations: ``python -m session_api.openapi``.

Never imported while serving.
"""

import json
import sys
from typing import Any, Final

from session_api.openapi_operations import describe_operation, group_of
from session_api.openapi_schemas import component_schemas
from session_api.operations import OPERATIONS
from session_api.resolver import ROUTES
from session_api.source_texts import flowed

ABOUT: Final = """\
A durable session store on DynamoDB for MCP servers and agents.

**Callers.** Requests are signed (SigV4) or carry a bearer token, as the deployment is configured. The
tenant is the IAM role or user that signs, or the issuer and organisation of the token; the subject is the
end user within it. What belongs to another caller is answered like what does not exist: 404.

**Writes.** Every write is conditional and atomic. `If-Match` makes one conditional on the session's version
(optimistic locking); writes that do not list the header refuse a version in it. A session is written in its
home region only (421 elsewhere).

**Retries.** Each operation says what the same request does when it is sent again. 503 `throttled`: nothing
was written, so try again. 503 `outcome-unknown`: the database's response was lost, so the write may have
happened. An `Idempotency-Key` makes a request take effect once; operations that do not list the header
refuse it.

**Expiry.** Every successful call on a session moves its expiry (sliding expiration). An expired session is
gone at once, and its child items with it.

**Errors** are `application/problem+json` (RFC 9457). Programs decide by the slug that ends `type`, and by
further members. Unknown members of a body and unknown query parameters are refused.

**Lists** are read by page: pass `nextCursor` as `cursor` until it is null.

**Numbers** in JSON come back equal and exact. Times are ISO 8601 in UTC with milliseconds.
"""


def document() -> dict[str, Any]:
    """The whole document, in a fixed order."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = describe_operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "MCP session store",
            "version": "1",
            "description": flowed(ABOUT.strip()),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [
            {
                "url": "https://{api}.execute-api.{region}.amazonaws.com/v1",
                "variables": {"api": {"default": "example"}, "region": {"default": "us-east-1"}},
            }
        ],
        "security": [{"sigv4": []}, {"bearer": []}],
        "tags": [{"name": name, "description": description} for name, description in map(group_of, ROUTES)],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": component_schemas(
                kind for operation in OPERATIONS for kind in (operation.body, operation.answer)
            ),
            "securitySchemes": {
                "sigv4": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "AWS Signature Version 4, service `execute-api`.",
                },
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "Where the store is deployed with `auth=jwt`; without `Session-Subject`.",
                },
            },
        },
    }


if __name__ == "__main__":
    json.dump(document(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
