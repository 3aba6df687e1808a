"""The resolver: every declared operation bound to a store, from gateway event to response."""

import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import quote, unquote

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import ApiGatewayResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import ProxyEventType
from msgspec import Struct

from session_api import (
    audit_routes,
    checkpoint_routes,
    claim_routes,
    context_routes,
    dead_letter_routes,
    operator_routes,
    problems,
    recovery_routes,
    running_call_routes,
    session_routes,
    task_routes,
    tool_call_routes,
)
from session_api.callers import SUBJECT_HEADER, iam_caller, jwt_caller
from session_api.counting import Counting
from session_api.operations import OPERATIONS, Operation, Reply
from session_api.problems import Problem, problem_body, problem_headers, problem_of
from session_api.requests import (
    Headers,
    Request,
    body_of,
    headers_of,
    idempotency_key,
    minimum_version,
    query_of,
    refuse_large_body,
)
from session_store.domain.caller import Caller
from session_store.domain.json_values import encode
from session_store.errors import InvalidRequestError, NotFoundError, StoreError
from session_store.schema import Callers
from session_store.settings import Settings
from session_store.store import Store

ROUTES: Final = (
    session_routes,
    context_routes,
    checkpoint_routes,
    running_call_routes,
    tool_call_routes,
    claim_routes,
    task_routes,
    recovery_routes,
    audit_routes,
    operator_routes,
    dead_letter_routes,
)
"""Imported for the operations that they declare."""

Event = Mapping[str, Any]


class Resolver(Struct, frozen=True, kw_only=True):
    """Serves gateway events. Nothing of a request or an answer but its shape is logged."""

    store: Store
    settings: Settings
    logger: Logger
    counting: Counting
    monotonic: Callable[[], float] = time.monotonic

    def build(self) -> ApiGatewayResolver:
        # Not APIGatewayRestResolver: that one passes over a slash at the end, and so over an empty id.
        app = ApiGatewayResolver(ProxyEventType.APIGatewayProxyEvent)
        for operation in OPERATIONS:
            rule = operation.path.replace("{", "<").replace("}", ">")
            app.route(rule, operation.method)(self._bound(app, operation))
        app.not_found(
            lambda _: self._timed("unknown", partial(self._unknown_path, app.current_event.raw_event))
        )
        return app

    def with_encoded_path(self, event: dict[str, Any]) -> dict[str, Any]:
        """The event with its path percent-encoded, as API Gateway's REST APIs deliver it."""
        path = event.get("path") or "/"
        if self.settings.gateway_decodes_path:
            path = quote(path, safe="/~!$&'()*+,;=:@")
        return {**event, "path": path}

    def _bound(self, app: ApiGatewayResolver, operation: Operation) -> Callable[..., Response[str]]:
        def serve(**path: str) -> Response[str]:
            event = app.current_event.raw_event
            return self._timed(operation.name, partial(self._served, operation, event, path))

        return serve

    def _timed(self, operation: str, answer: Callable[[], Response[str]]) -> Response[str]:
        began = self.monotonic()
        response = answer()
        seconds = self.monotonic() - began
        self.counting.answered(operation, status=response.status_code, seconds=seconds)
        return response

    def _served(self, operation: Operation, event: Event, path: Mapping[str, str]) -> Response[str]:
        try:
            reply = operation.run(self._request(operation, event, path))
        except StoreError as error:
            return self._refused(operation.name, event, error)
        except Exception as error:  # noqa: BLE001 - the last resort: the caller gets an answer, the alarm its metric
            return self._crashed(operation.name, event, error)
        return self._replied(operation, reply)

    def _request(self, operation: Operation, event: Event, path: Mapping[str, str]) -> Request:
        if operation.anonymous:
            return Request(store=self.store)
        headers = headers_of(event)
        caller = self._caller(event, headers)
        key = idempotency_key(headers, taken=operation.keyed)
        if operation.body is None:
            refuse_large_body(event)
        return Request(
            store=self.store,
            caller=caller,
            # What is no UTF-8 becomes U+FFFD, which no name in a path may hold.
            path={name: unquote(value) for name, value in path.items()},
            headers=headers,
            query=query_of(event, [parameter.name for parameter in operation.query]),
            min_version=minimum_version(headers),
            key=key,
            body=None if operation.body is None else body_of(event, operation.body),
        )

    def _caller(self, event: Event, headers: Headers) -> Caller:
        context = event.get("requestContext") or {}
        subject = headers.one(SUBJECT_HEADER)
        if self.settings.callers is Callers.JWT:
            return jwt_caller(context, subject=subject)
        return iam_caller(context, subject=subject, delegates=self.settings.delegates)

    def _replied(self, operation: Operation, reply: Reply) -> Response[str]:
        body = b"" if reply.value is None else encode(reply.value)
        self.counting.served(operation, reply, size=len(body))
        self.logger.info("served", operation=operation.name, status=reply.status)
        content_type = None if reply.value is None else "application/json"
        return Response(reply.status, content_type, body.decode(), headers=dict(reply.headers))

    def _refused(self, operation: str, event: Event, error: StoreError) -> Response[str]:
        problem = problem_of(error)
        self.counting.refused(problem)
        self.logger.info("refused", operation=operation, status=problem.status, problem=problem.slug)
        return _problem(problem, event, error.detail, error.facts)

    def _crashed(self, operation: str, event: Event, error: Exception) -> Response[str]:
        """Log where it happened, never the exception's text: that may quote an item."""
        frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
        self.counting.crashed()
        self.logger.error("crashed", operation=operation, error=type(error).__name__, frames=frames)
        return _problem(problems.INTERNAL, event, "The request failed; its id is in the log.", {})

    def _unknown_path(self, event: Event) -> Response[str]:
        path = str(event.get("path", ""))
        error: StoreError = NotFoundError("No operation has this method and path.")
        if "//" in path or (path.endswith("/") and path != "/"):
            error = InvalidRequestError("A part of the path is empty", path="path")
        return self._refused("unknown", event, error)


def _problem(problem: Problem, event: Event, detail: str, facts: dict[str, Any]) -> Response[str]:
    instance = str((event.get("requestContext") or {}).get("requestId", ""))
    body = problem_body(problem, detail=detail, instance=instance, facts=facts)
    return Response(problem.status, problems.CONTENT_TYPE, body, headers=problem_headers(problem, facts))
