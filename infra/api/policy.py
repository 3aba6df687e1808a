"""Who may reach the API at all: its resource policy, beside which IAM still decides."""

from aws_cdk import aws_iam as iam

from infra.api.routes import routes
from infra.config import Config

_INVOKE = "execute-api:Invoke"


def api_policy(config: Config, *, stage: str) -> iam.PolicyDocument:
    """Open routes for everyone, all others for the accounts named; nobody else of another account.

    The own account has no statement: there API Gateway lets in whom a principal's policy *or* this one
    allows, so an allow here would let in principals whose own policies say nothing. Another account's
    principal needs both.

    Before an authorizer it is alike: what either policy allows is let in, unless the authorizer's denies it.
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
