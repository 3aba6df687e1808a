"""The REST API: the routes of docs/openapi.json, all handled by one function."""

from typing import Final

from aws_cdk import RemovalPolicy
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra import names
from infra.api.authorizer import Authorizer
from infra.api.gateway_responses import add_gateway_responses
from infra.api.policy import api_policy
from infra.api.routes import Route, routes
from infra.logged_function import Shared

STAGE_NAME: Final = "v1"
"""The version of the HTTP contract; base URLs end in it."""

ACCESS_LOG: Final = {
    "requestId": apigateway.AccessLogField.context_request_id(),
    "time": apigateway.AccessLogField.context_request_time(),
    "method": apigateway.AccessLogField.context_http_method(),
    # The path's template rather than the path, so that callers' values stay out of the logs.
    "resourcePath": apigateway.AccessLogField.context_resource_path(),
    "status": apigateway.AccessLogField.context_status(),
    "responseLength": apigateway.AccessLogField.context_response_length(),
    "responseLatencyMs": apigateway.AccessLogField.context_response_latency(),
    "integrationLatencyMs": apigateway.AccessLogField.context_integration_latency(),
    "gatewayError": apigateway.AccessLogField.context_error_response_type(),
    "sourceIp": apigateway.AccessLogField.context_identity_source_ip(),
    "accountId": apigateway.AccessLogField.context_caller_account_id(),
}


class SessionRestApi(Construct):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        shared: Shared,
        function: lambda_.IFunction,
        authorizer: Authorizer | None,
    ) -> None:
        """Without an authorizer, callers sign their requests."""
        super().__init__(scope, construct_id)
        config = shared.config
        access_logs = logs.LogGroup(
            self,
            "AccessLogs",
            retention=config.log_retention,
            removal_policy=config.removal,
            encryption_key=shared.key,
        )
        self.api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name=names.rest_api(config.stage),
            description="Session store",
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            policy=api_policy(config, stage=STAGE_NAME),
            # Access logs need a role that is set per account and region. It is retained when this stack is
            # deleted: other APIs of the account may use it by then.
            cloud_watch_role=True,
            cloud_watch_role_removal_policy=RemovalPolicy.RETAIN,
            default_method_options=(
                apigateway.MethodOptions(authorization_type=apigateway.AuthorizationType.IAM)
                if authorizer is None
                else apigateway.MethodOptions(authorizer=authorizer.before(self))
            ),
            deploy_options=apigateway.StageOptions(
                stage_name=STAGE_NAME,
                tracing_enabled=True,
                metrics_enabled=config.route_metrics,
                throttling_rate_limit=config.throttling_rate,
                throttling_burst_limit=config.throttling_burst,
                access_log_destination=apigateway.LogGroupLogDestination(access_logs),
                access_log_format=_access_log_format(),
            ),
        )
        self._integration = apigateway.LambdaIntegration(
            function,
            # One permission for the whole API (none for the console's test stage): one per method would
            # exceed the size of the function's policy.
            scope_permission_to_method=False,
        )
        self._body_validator = self.api.add_request_validator("HasBody", validate_request_body=True)
        # Only the outermost type: the function's own errors name the path of an invalid value.
        self._object = self.api.add_model(
            "JsonObject",
            content_type="application/json",
            schema=apigateway.JsonSchema(type=apigateway.JsonSchemaType.OBJECT),
        )
        for route in routes():
            self._add(route)
        # The function answers unknown paths, after authentication.
        self.api.root.add_method("ANY", self._integration)
        self.api.root.add_resource("{proxy+}").add_method("ANY", self._integration)
        add_gateway_responses(self.api)

    def _add(self, route: Route) -> None:
        resource = self.api.root.resource_for_path(route.path)
        resource.add_method(
            route.method,
            self._integration,
            # None means the default of all methods.
            authorization_type=apigateway.AuthorizationType.NONE if route.is_open else None,
            request_validator=self._body_validator if route.takes_body else None,
            request_models={"application/json": self._object} if route.takes_body else None,
        )


def _access_log_format() -> apigateway.AccessLogFormat:
    fields = ",".join(f'"{name}":"{variable}"' for name, variable in ACCESS_LOG.items())
    return apigateway.AccessLogFormat.custom("{" + fields + "}")
