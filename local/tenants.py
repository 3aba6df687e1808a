"""The users of the local stack: two tenants, who may call, and a watcher, who may look at metrics and logs.

They are IAM users with keys in AWS credentials files.
"""

import configparser
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from botocore.exceptions import ClientError

from local.emulator import ACCOUNT, REGION, Credentials, Emulator

NAMES: Final = ("tenant-a", "tenant-b")
WATCHER: Final = "watcher"
PRINCIPALS: Final = tuple(f"{ACCOUNT}:user/{name}" for name in NAMES)
"""In the form that the configuration names delegates in."""


def provision(emulator: Emulator, *, api_id: str, file: Path) -> Mapping[str, Credentials]:
    """Make the users, let them call the API and write their keys to ``file``.

    Keys in ``file`` that the emulator still knows are kept.
    """
    known = read(file)
    tenants = {
        name: _provision(emulator, name=name, policy=_may_call(api_id), known=known.get(name))
        for name in NAMES
    }
    if tenants != known:
        _write(file, tenants)
    return tenants


def provision_watcher(emulator: Emulator, *, file: Path) -> Credentials:
    """Make the user that reads what the functions count and log, and may do nothing else."""
    known = read(file).get(WATCHER)
    watcher = _provision(emulator, name=WATCHER, policy=_MAY_WATCH, known=known)
    if watcher != known:
        _write(file, {WATCHER: watcher})
    return watcher


def _provision(
    emulator: Emulator, *, name: str, policy: Mapping[str, object], known: Credentials | None
) -> Credentials:
    iam = emulator.client("iam")
    try:
        iam.create_user(UserName=name)
    except ClientError as error:
        if error.response["Error"]["Code"] != "EntityAlreadyExists":
            raise
    iam.put_user_policy(UserName=name, PolicyName=f"{name}-may", PolicyDocument=json.dumps(policy))
    existing = [key["AccessKeyId"] for key in iam.list_access_keys(UserName=name)["AccessKeyMetadata"]]
    if known is not None and known.access_key_id in existing:
        return known
    for access_key_id in existing:
        iam.delete_access_key(UserName=name, AccessKeyId=access_key_id)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return Credentials(access_key_id=key["AccessKeyId"], secret_access_key=key["SecretAccessKey"])


def _may_call(api_id: str) -> Mapping[str, object]:
    api = f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{api_id}/*"
    return _policy("execute-api:Invoke", resource=api)


def _policy(*actions: str, resource: str) -> Mapping[str, object]:
    statement = {"Effect": "Allow", "Action": list(actions), "Resource": resource}
    return {"Version": "2012-10-17", "Statement": [statement]}


_MAY_WATCH: Final = _policy(
    "cloudwatch:DescribeAlarms",
    "cloudwatch:GetMetricData",
    "cloudwatch:ListMetrics",
    "logs:DescribeLogGroups",
    "logs:FilterLogEvents",
    resource="*",
)


def read(file: Path) -> Mapping[str, Credentials]:
    """The keys that ``provision`` wrote, by tenant; none where there is no such file."""
    profiles = configparser.ConfigParser()
    profiles.read(file)
    return {
        name: Credentials(
            access_key_id=profiles[name]["aws_access_key_id"],
            secret_access_key=profiles[name]["aws_secret_access_key"],
            region=profiles[name]["region"],
        )
        for name in profiles.sections()
    }


def _write(file: Path, tenants: Mapping[str, Credentials]) -> None:
    profiles = configparser.ConfigParser()
    for name, tenant in tenants.items():
        profiles[name] = {
            "aws_access_key_id": tenant.access_key_id,
            "aws_secret_access_key": tenant.secret_access_key,
            "region": tenant.region,
        }
    file.touch(mode=0o600)
    with file.open("w") as stream:
        profiles.write(stream)
