"""The resolver: serves gateway events by the declared operations, on a store."""

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
    approval_routes,
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
    task_work_routes,
    tool_call_routes,
)
from session_api.callers import SUBJECT_HEADER, iam_caller, jwt_caller
from session_api.operations import OPERATIONS, Operation, Reply
from session_api.problems import Problem, problem_body, problem_headers, problem_of
from session_api.request_metrics import RequestMetrics
from session_api.requests import (
    Headers,
    Request,
    check_ignored_body,
    parse_body,
    parse_headers,
    parse_idempotency_key,
    parse_min_version,
    parse_query,
    refuse_if_match,
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
    task_work_routes,
    approval_routes,
    recovery_routes,
    audit_routes,
    operator_routes,
    dead_letter_routes,
)
"""Imported for the operations that they declare."""

Event = Mapping[str, Any]


class Resolver(Struct, frozen=True, kw_only=True):
    """Serves gateway events. It logs operation, status and problem, never what a request or answer holds."""

    store: Store
    settings: Settings
    logger: Logger
    request_metrics: RequestMetrics
    monotonic: Callable[[], float] = time.monotonic

    def build(self) -> ApiGatewayResolver:
        # Not APIGatewayRestResolver, which ignores a slash at the end and so accepts an empty id.
        app = ApiGatewayResolver(ProxyEventType.APIGatewayProxyEvent)
        for operation in OPERATIONS:
            rule = operation.path.replace("{", "<").replace("}", ">")
            app.route(rule, operation.method)(self._bind(app, operation))
        app.not_found(
            lambda _: self._measure("unknown", partial(self._unknown_path, app.current_event.raw_event))
        )
        return app

    def with_encoded_path(self, event: dict[str, Any]) -> dict[str, Any]:
        """The event with its path percent-encoded, as API Gateway's REST APIs deliver it."""
        path = event.get("path") or "/"
        if self.settings.gateway_decodes_path:
            path = quote(path, safe="/~!$&'()*+,;=:@")
        return {**event, "path": path}

    def _bind(self, app: ApiGatewayResolver, operation: Operation) -> Callable[..., Response[str]]:
        def serve(**path: str) -> Response[str]:
            event = app.current_event.raw_event
            return self._measure(operation.name, partial(self._serve, operation, event, path))

        return serve

    def _measure(self, operation: str, answer: Callable[[], Response[str]]) -> Response[str]:
        began = self.monotonic()
        response = answer()
        seconds = self.monotonic() - began
        self.request_metrics.describe(operation, status=response.status_code, seconds=seconds)
        return response

    def _serve(self, operation: Operation, event: Event, path: Mapping[str, str]) -> Response[str]:
        try:
            reply = operation.route(self._parse(operation, event, path))
        except StoreError as error:
            return self._refuse(operation.name, event, error)
        except Exception as error:  # noqa: BLE001 - the last resort: the caller gets an answer, the alarm its metric
            return self._report_crash(operation.name, event, error)
        return self._respond(operation, reply)

    def _parse(self, operation: Operation, event: Event, path: Mapping[str, str]) -> Request[Any]:
        if operation.anonymous:
            return Request(store=self.store, body=None)
        headers = parse_headers(event)
        caller = self._caller(event, headers)
        key = parse_idempotency_key(headers, accepted=operation.keyed)
        if operation.refuses_if_match:
            refuse_if_match(headers, instead=operation.version_member)
        if operation.body is None:
            check_ignored_body(event)
        return Request(
            store=self.store,
            caller=caller,
            # Bytes that are not UTF-8 become U+FFFD, which no path parameter may contain.
            path={name: unquote(value) for name, value in path.items()},
            headers=headers,
            query=parse_query(event, [parameter.name for parameter in operation.query]),
            min_version=parse_min_version(headers),
            key=key,
            body=None if operation.body is None else parse_body(event, operation.body),
        )

    def _caller(self, event: Event, headers: Headers) -> Caller:
        context = event.get("requestContext") or {}
        subject = headers.single(SUBJECT_HEADER)
        if self.settings.callers is Callers.JWT:
            return jwt_caller(context, subject=subject)
        return iam_caller(context, subject=subject, delegates=self.settings.delegates)

    def _respond(self, operation: Operation, reply: Reply) -> Response[str]:
        body = b"" if reply.value is None else encode(reply.value)
        self.request_metrics.count_success(operation, reply, size=len(body))
        self.logger.info("served", operation=operation.name, status=reply.status)
        content_type = None if reply.value is None else "application/json"
        return Response(reply.status, content_type, body.decode(), headers=dict(reply.headers))

    def _refuse(self, operation: str, event: Event, error: StoreError) -> Response[str]:
        problem = problem_of(error)
        self.request_metrics.count_refusal(problem)
        self.logger.info("refused", operation=operation, status=problem.status, problem=problem.slug)
        return _problem(problem, event, error.detail, error.facts)

    def _report_crash(self, operation: str, event: Event, error: Exception) -> Response[str]:
        """Log the exception's type and frames, but not its text, which may quote an item."""
        frames = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
        self.request_metrics.count_crash()
        self.logger.error("crashed", operation=operation, error=type(error).__name__, frames=frames)
        return _problem(
            problems.INTERNAL,
            event,
            "The request failed unexpectedly; the log has the error under the request's id.",
            {},
        )

    def _unknown_path(self, event: Event) -> Response[str]:
        path = str(event.get("path", ""))
        error: StoreError = NotFoundError("No operation has this method and path.")
        if "//" in path or (path.endswith("/") and path != "/"):
            error = InvalidRequestError("The path has an empty segment", path="path")
        return self._refuse("unknown", event, error)


def _problem(problem: Problem, event: Event, detail: str, facts: dict[str, Any]) -> Response[str]:
    instance = str((event.get("requestContext") or {}).get("requestId", ""))
    body = problem_body(problem, detail=detail, instance=instance, facts=facts)
    return Response(problem.status, problems.CONTENT_TYPE, body, headers=problem_headers(problem, facts))
