"""boto3 clients of the emulator's services."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import boto3
import botocore.session
from botocore.config import Config

from local.credentials import Credentials
from local.loopback import HOST


def client(service: str, *, endpoint: str, credentials: Credentials, config: Config | None = None) -> Any:  # noqa: ANN401 - boto3 creates the class of each service at run time
    return _client_factory()(
        service,
        endpoint_url=endpoint,
        region_name=credentials.region,
        aws_access_key_id=credentials.access_key_id,
        aws_secret_access_key=credentials.secret_access_key,
        config=config,
    )


def environment(*, endpoint: str, credentials: Credentials) -> Mapping[str, str]:
    """Return the environment in which AWS SDKs and the CDK CLI call the emulator and nothing else."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": credentials.access_key_id,
        "AWS_SECRET_ACCESS_KEY": credentials.secret_access_key,
        "AWS_REGION": credentials.region,
        "AWS_DEFAULT_REGION": credentials.region,
        # Ignore this machine's own AWS configuration.
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "NO_PROXY": HOST,
        "no_proxy": HOST,
    }


def _client_factory() -> Callable[..., Any]:
    """Return a function that creates clients without reading this machine's AWS configuration."""
    session = botocore.session.Session(
        session_vars={
            # Key in a configuration file, environment variable, value, conversion.
            "profile": (None, None, None, None),
            "config_file": (None, None, os.devnull, None),
            "credentials_file": (None, None, os.devnull, None),
        }
    )
    make: Callable[..., Any] = boto3.Session(botocore_session=session).client
    return make
