"""What every operator command shares: the caller, and the resources of the deployed stage."""

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
"""Authorization is up to IAM, for every AWS call of a command."""


class NotDeployedError(Exception):
    """The stage is not deployed in the region, or lacks what the command needs."""


REFUSALS: Final = (BotoCoreError, ClientError, ConfigurationError, NotDeployedError, StoreError)
"""Exceptions that a command prints in one line; it then exits with status 2."""


def location_options() -> argparse.ArgumentParser:
    """Build the options for stage and region, to be a parent of a command's parser."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--stage", required=True, help="the deployed stage, such as prod")
    options.add_argument("--region", default="us-east-1", help="the region of the deployment (%(default)s)")
    return options


def environment(*, stage: str, region: str) -> Mapping[str, str]:
    """Read the environment of the stage's API function, which names the deployment's resources.

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
