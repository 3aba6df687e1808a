"""No grant is wider than its words; against_code compares what a function may do with what it does."""

import pytest

from tests.infra.conftest import PACKAGES, Synthesized

EACH_FUNCTION = pytest.mark.parametrize("package", PACKAGES)


@EACH_FUNCTION
def test_no_action_is_a_wildcard(every: Synthesized, package: str) -> None:
    for region in every.regions:
        for actions in every.allowed(package, region=region).values():
            assert not [action for action in actions if "*" in action]


def test_the_listing_and_the_heartbeat_are_granted_under_conditions_and_the_key(every: Synthesized) -> None:
    for region in every.regions:
        conditions = [
            (package, statement["Action"], statement["Condition"])
            for package in PACKAGES
            for statement in every.statements(every.function(package, region=region), region=region)
            if "Condition" in statement and "kms:" not in str(statement["Action"])
        ]
        below = {"StringEquals": {"s3:prefix": "quarantine/"}}
        own = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [f"heartbeat#{region}"]}}
        assert conditions == [
            ("session_api", "s3:ListBucket", below),
            ("heartbeat", "dynamodb:PutItem", own),
        ]


def test_no_role_of_a_function_has_a_policy_that_is_not_its_own(every: Synthesized) -> None:
    for region in every.regions:
        roles = [
            role
            for role in every.properties("AWS::IAM::Role", region=region)
            if "lambda" in str(role["AssumeRolePolicyDocument"])
        ]
        # CDK's function, which looks a replica's stream up, has one too.
        assert len(roles) == len(PACKAGES) + (region != every.regions[0])
        assert not [role for role in roles if {"ManagedPolicyArns", "Policies"} & set(role)]
