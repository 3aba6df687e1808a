"""What every command for operators begins with: who asks, and where the stage has what is asked for."""

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
"""Whom AWS let in: every call of a command is judged by IAM."""


class NotDeployedError(Exception):
    """There is no such stage in the region, or it has not what is asked for."""


REFUSALS: Final = (BotoCoreError, ClientError, ConfigurationError, NotDeployedError, StoreError)
"""What a command says in one line, and ends with 2."""


def place() -> argparse.ArgumentParser:
    """The options that say where, for the parser of a command to have as a parent."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--stage", required=True, help="the stage that was deployed, such as prod")
    options.add_argument("--region", default="us-east-1", help="the region to work in (%(default)s)")
    return options


def environment(*, stage: str, region: str) -> Mapping[str, str]:
    """That of the function behind the stage's API, whose settings say where all else is.

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
