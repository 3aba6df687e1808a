"""The IAM users of the local stack: two tenants and an operator, with keys in an AWS credentials file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from botocore.exceptions import ClientError

from local.credentials import (
    OPERATOR,
    REGION,
    TENANTS,
    Credentials,
    read_credentials,
    write_credentials,
)
from local.deployment import Deployed
from local.emulator import ACCOUNT, Emulator
from local.operator_policy import operator_policy

DELEGATES: Final = tuple(f"{ACCOUNT}:user/{name}" for name in TENANTS)
"""Named as in the configuration."""


def provision(emulator: Emulator, *, deployed: Deployed, file: Path) -> Mapping[str, Credentials]:
    """Create the users with their policies and write their keys to ``file``.

    Keys in ``file`` that are still valid are kept.
    """
    policies = {
        **{name: tenant_policy(deployed) for name in TENANTS},
        OPERATOR: operator_policy(deployed, _settings(emulator, deployed)),
    }
    known = read_credentials(file)
    keys = {
        name: provision_user(emulator, name=name, policy=policy, known=known.get(name))
        for name, policy in policies.items()
    }
    if keys != known:
        write_credentials(file, keys)
    return keys


def provision_user(
    emulator: Emulator, *, name: str, policy: Mapping[str, object], known: Credentials | None = None
) -> Credentials:
    """Create or update a user and return its key: ``known`` if it is still valid, otherwise a new one."""
    iam = emulator.client("iam")
    try:
        iam.create_user(UserName=name)
    except ClientError as error:
        if error.response["Error"]["Code"] != "EntityAlreadyExists":
            raise
    iam.put_user_policy(UserName=name, PolicyName="local-stack", PolicyDocument=json.dumps(policy))
    existing = [key["AccessKeyId"] for key in iam.list_access_keys(UserName=name)["AccessKeyMetadata"]]
    if known is not None and known.access_key_id in existing:
        return known
    for access_key_id in existing:
        iam.delete_access_key(UserName=name, AccessKeyId=access_key_id)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return Credentials(access_key_id=key["AccessKeyId"], secret_access_key=key["SecretAccessKey"])


def tenant_policy(deployed: Deployed) -> Mapping[str, object]:
    """Build a policy that allows calling the API and nothing else."""
    api = f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{deployed.api_id}/*"
    statement = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": api}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _settings(emulator: Emulator, deployed: Deployed) -> Mapping[str, str]:
    """Read the environment of the API's function, which names the deployment's resources."""
    functions = emulator.client("lambda")
    configuration = functions.get_function_configuration(FunctionName=deployed.api_function_name)
    variables: Mapping[str, str] = configuration["Environment"]["Variables"]
    return variables
