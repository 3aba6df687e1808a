"""The API's resource policy: who may reach it at all, beside what IAM lets principals do."""

from collections.abc import Mapping
from typing import Any

from tests.infra.conftest import OPTIONS, Synthesized, as_text

HEALTH = ["execute-api:/v1/GET/health"]


def statements(synthesized: Synthesized) -> list[Mapping[str, Any]]:
    (api,) = synthesized.properties("AWS::ApiGateway::RestApi", region="us-east-1")
    found: list[Mapping[str, Any]] = api["Policy"]["Statement"]
    return found


def resources(statement: Mapping[str, Any]) -> list[str]:
    named = statement["Resource"]
    return [named] if isinstance(named, str) else list(named)


def test_everyone_may_ask_for_health_and_nothing_else(every: Synthesized) -> None:
    opened = [one for one in statements(every) if one["Principal"] == {"AWS": "*"}]
    assert [resources(one) for one in opened] == [HEALTH]


def test_without_accounts_named_nobody_else_has_a_statement(every: Synthesized) -> None:
    """So nobody of another account comes in, and of the own account whom IAM lets in."""
    assert len(statements(every)) == 1


def test_the_accounts_named_may_call_every_route(optional: Synthesized) -> None:
    (others,) = (one for one in statements(optional) if one["Principal"] != {"AWS": "*"})
    named = str(OPTIONS["callerAccounts"]).split(",")
    assert [as_partitionless(principal) for principal in others["Principal"]["AWS"]] == [
        f":iam::{account}:root" for account in named
    ]
    assert resources(others) == ["execute-api:/v1/*"]


def test_the_own_account_is_never_named(optional: Synthesized, cached_apart: Synthesized) -> None:
    """There an allow of either policy is enough: naming it would let in every principal of it."""
    for synthesized in (optional, cached_apart):
        for statement in statements(synthesized):
            assert "AccountId" not in str(statement["Principal"])
            assert "111122223333" not in str(statement["Principal"])


def test_every_statement_is_an_allow_of_invoking(optional: Synthesized) -> None:
    said = [(one["Effect"], one["Action"], "Condition" in one) for one in statements(optional)]
    assert said == [("Allow", "execute-api:Invoke", False)] * 2


def test_another_policy_is_another_deployment(dev: Synthesized, optional: Synthesized) -> None:
    """A stage keeps the policy that it was deployed with."""

    def deployment(synthesized: Synthesized) -> set[str]:
        named = synthesized.resources("AWS::ApiGateway::Deployment", region="us-east-1")
        return {name.rpartition("/")[2] for name in named}

    assert deployment(dev) != deployment(optional)


def as_partitionless(principal: object) -> str:
    return as_text(principal).removeprefix("arn:").removeprefix("<AWS::Partition>").removeprefix("aws")
