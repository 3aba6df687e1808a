"""What the operators' commands share: the caller, the options, and how to find a deployment."""

import argparse
from collections.abc import Mapping
from typing import Final

from botocore.exceptions import BotoCoreError, ClientError

from infra import names
from session_store.domain.caller import Caller, Permission
from session_store.errors import ConfigurationError, StoreError
from session_store.settings import REGION_VARIABLE
from session_store.storage.integrations.aws_clients import aws_client

OPERATOR: Final = Caller(tenant="operator", permissions=frozenset({Permission.OPS}))
"""IAM authorizes every AWS call of a command, so the operator has the permission here."""


class NotDeployedError(Exception):
    """The stage is not deployed in the region, or lacks what the command needs."""


REFUSALS: Final = (BotoCoreError, ClientError, ConfigurationError, NotDeployedError, StoreError)
"""Errors that a command reports in one line, with exit status 2."""


def place() -> argparse.ArgumentParser:
    """A parent parser with the options that name the deployment."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--stage", required=True, help="the deployed stage, such as prod")
    options.add_argument(
        "--region", default="us-east-1", help="the region of the deployment (default: %(default)s)"
    )
    return options


def environment(*, stage: str, region: str) -> Mapping[str, str]:
    """The environment of the function behind the stage's API, which names everything else.

    Raises:
        NotDeployedError
    """
    stack = names.regional_stack(stage, region)
    stacks = aws_client("cloudformation", region=region).describe_stacks(StackName=stack)["Stacks"]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stacks[0].get("Outputs", ())}
    function = outputs.get(names.API_FUNCTION_OUTPUT)
    if function is None:
        raise NotDeployedError(f"{stack} has no output {names.API_FUNCTION_OUTPUT}")
    configuration = aws_client("lambda", region=region).get_function_configuration(FunctionName=function)
    return {**configuration["Environment"]["Variables"], REGION_VARIABLE: region}
