"""The API's resource policy, which applies in addition to IAM."""

from aws_cdk import aws_iam as iam

from infra.api.routes import routes
from infra.config import Config

_INVOKE = "execute-api:Invoke"


def api_policy(config: Config, *, stage: str) -> iam.PolicyDocument:
    """Open routes for everyone, all others for the configured accounts; no other account has access.

    The own account has no statement: for its principals API Gateway admits what their policy *or* this one
    allows, so an allow here would admit principals whose own policies do not mention the API. A principal
    of another account needs both.

    The same holds with an authorizer: what either policy allows is admitted, unless the authorizer denies
    it.
    """
    opened = [f"execute-api:/{stage}/{route.method}{route.path}" for route in routes() if route.is_open]
    policy = iam.PolicyDocument(
        statements=[
            iam.PolicyStatement(actions=[_INVOKE], principals=[iam.AnyPrincipal()], resources=opened),
        ]
    )
    if config.caller_accounts:
        policy.add_statements(
            iam.PolicyStatement(
                actions=[_INVOKE],
                principals=[iam.AccountPrincipal(account) for account in config.caller_accounts],
                resources=[f"execute-api:/{stage}/*"],
            )
        )
    return policy
