"""Deployment of the CDK app into the emulator, by the real CDK CLI."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from infra import names
from local.credentials import REGION
from local.emulator import ACCOUNT, ROOT, Emulator
from local.issuer import AUDIENCE
from local.streams.templates import keep_templates, read_stacks, without_stream_mappings

STAGE: Final = "local"
ASSEMBLY: Final = "cdk.out"
"""In the emulator's state, kept between deployments so that assets are built once."""

DEPLOYED_TEMPLATES: Final = "templates"
"""In the emulator's state: the templates that were deployed last, as synthesized."""

CDK: Final = ROOT / "node_modules" / ".bin" / "cdk"
COMMAND_SECONDS: Final = 300

_SOURCES: Final = (
    "app.py",
    "cdk.json",
    "docs/openapi.json",
    "infra",
    "lambdas",
    "package-lock.json",
    "requirements.txt",
)
"""Files and folders that together determine a deployment."""

_FINGERPRINT: Final = "/session-store/fingerprint"
_BOOTSTRAP_VERSION: Final = "/cdk-bootstrap/hnb659fds/version"
_STAGING_BUCKET: Final = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"

Say = Callable[[str], None]


class DeploymentError(RuntimeError):
    """A command failed or is missing; the message has its output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployed:
    """Outputs of the deployed stacks."""

    api_id: str
    api_url: str
    """Without a trailing slash."""
    table_name: str
    audit_table_name: str
    event_bus_name: str
    cleanup_queue_url: str
    api_function_name: str


def deploy(
    emulator: Emulator,
    *,
    delegates: Sequence[str],
    revocation_endpoint: str | None,
    issuer: str | None = None,
    say: Say,
) -> Deployed:
    """Deploy this tree, unless the same is deployed already.

    ``delegates`` may send Session-Subject. ``revocation_endpoint`` revokes the credentials of ended sessions.
    With an ``issuer``, callers show its tokens instead of signing, and there are no delegates.

    Raises:
        DeploymentError
    """
    context = {
        "stage": STAGE,
        "revocationEndpoint": revocation_endpoint or "",
        **(_iam_context(delegates) if issuer is None else _jwt_context(issuer)),
    }
    fingerprint = _fingerprint(_sources(), context=context)
    assembly = emulator.state / ASSEMBLY
    # The fingerprint is kept in the emulator, so it is lost exactly when the deployment is.
    if _parameter(emulator, _FINGERPRINT) == fingerprint:
        say("the deployed stacks are up to date")
        return outputs(emulator)
    cdk = Cdk(emulator)
    say("synthesizing the CDK app")
    synthesize(cdk, assembly, **context)
    if _parameter(emulator, _BOOTSTRAP_VERSION) is None:
        say("bootstrapping the emulator's account for the CDK")
        cdk.run("bootstrap", f"aws://{ACCOUNT}/{REGION}", "--app", str(assembly))
    admit_plain_http(emulator)
    say("deploying the stacks")
    with deployable(assembly) as stripped:
        cdk.run("deploy", "--all", "--require-approval", "never", "--app", str(stripped))
    keep_templates(assembly, emulator.state / DEPLOYED_TEMPLATES)
    emulator.client("ssm").put_parameter(Name=_FINGERPRINT, Value=fingerprint, Type="String", Overwrite=True)
    return outputs(emulator)


def _iam_context(delegates: Sequence[str]) -> Mapping[str, str]:
    return {"delegates": ",".join(delegates)}


def _jwt_context(issuer: str) -> Mapping[str, str]:
    return {"auth": "jwt", "jwtIssuer": issuer, "jwtAudience": AUDIENCE}


def synthesize(cdk: "Cdk", assembly: Path, **context: str) -> None:
    """Synthesize the app for the emulator, with additional ``context``, into ``assembly``."""
    local = {
        "target": "local",
        "regions": REGION,
        # Long enough for a child item that is being written, short enough to wait for.
        "cleanupDelaySeconds": "2",
        # As in a production stack.
        "censusMinutes": "60",
        **context,
    }
    options = [option for name, value in local.items() for option in ("--context", f"{name}={value}")]
    try:
        cdk.run("synth", "--quiet", "--output", str(assembly), *options)
    except DeploymentError:
        # A partial asset would be taken for a complete one next time.
        shutil.rmtree(assembly, ignore_errors=True)
        raise


def admit_plain_http(emulator: Emulator) -> None:
    """Let the bootstrap bucket accept plain HTTP: the emulator has no TLS, and listens on loopback only."""
    emulator.client("s3").delete_bucket_policy(Bucket=_STAGING_BUCKET)


@contextlib.contextmanager
def deployable(assembly: Path) -> Iterator[Path]:
    """Yield ``assembly``, or a temporary copy of it without its stream mappings.

    The emulator's own delivery lacks retries, bisecting and partial failures; ``delivery`` replaces it.
    """
    replaced = without_stream_mappings(read_stacks(assembly))
    if not replaced:
        yield assembly
        return
    with tempfile.TemporaryDirectory(dir=assembly.parent, prefix=f"{assembly.name}.") as folder:
        copy = Path(folder) / assembly.name
        shutil.copytree(assembly, copy, copy_function=os.link)
        for file, template in replaced.items():
            # A new file, since the old one is a hard link to the assembly's.
            (copy / file).unlink()
            (copy / file).write_text(json.dumps(template))
        yield copy


class Cdk:
    """The CDK CLI, calling the emulator and nothing else."""

    def __init__(self, emulator: Emulator) -> None:
        if shutil.which("node") is None:
            raise DeploymentError("node is not on the PATH: install Node.js 20 or later")
        if not CDK.exists():
            raise DeploymentError("the CDK CLI is not installed: run `make setup`")
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            **emulator.environment,
            # The CLI remembers which account an access key belongs to.
            "CDK_HOME": str(emulator.state / "cdk"),
            "CDK_DISABLE_VERSION_CHECK": "1",
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "NODE_NO_WARNINGS": "1",
        }

    def run(self, *arguments: str) -> None:
        """Run a command.

        Raises:
            DeploymentError: it failed or timed out; the message has its output.
        """
        try:
            done = subprocess.run(
                [str(CDK), *arguments, "--no-notices", "--no-color", "--ci"],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=COMMAND_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DeploymentError(f"cdk {arguments[0]} did not finish within {COMMAND_SECONDS} s") from error
        if done.returncode != 0:
            raise DeploymentError(f"cdk {arguments[0]} failed:\n{done.stdout}")


def _sources() -> Iterable[Path]:
    for name in _SOURCES:
        path = ROOT / name
        files = [path] if path.is_file() else path.rglob("*")
        yield from sorted(file for file in files if file.is_file() and "__pycache__" not in file.parts)


def _fingerprint(files: Iterable[Path], *, context: Mapping[str, str]) -> str:
    digest = hashlib.sha256(json.dumps([sys.version, context]).encode())
    for file in files:
        digest.update(f"{file.relative_to(ROOT)}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def _parameter(emulator: Emulator, name: str) -> str | None:
    try:
        value: str = emulator.client("ssm").get_parameter(Name=name)["Parameter"]["Value"]
    except ClientError as error:
        if error.response["Error"]["Code"] == "ParameterNotFound":
            return None
        raise
    return value


def outputs(emulator: Emulator) -> Deployed:
    """Read the outputs of the stacks of ``STAGE``."""
    data = _stack_outputs(emulator, names.data_stack(STAGE))
    regional = _stack_outputs(emulator, names.regional_stack(STAGE, REGION))
    return Deployed(
        api_id=regional["ApiId"],
        # The output has the URL on AWS; the emulator serves the stage under its own.
        api_url=emulator.api_url(regional["ApiId"], stage=urlsplit(regional["ApiUrl"]).path.strip("/")),
        table_name=data["TableName"],
        audit_table_name=data["AuditTableName"],
        event_bus_name=regional["EventBusName"],
        cleanup_queue_url=regional["CleanupQueueUrl"],
        api_function_name=regional[names.API_FUNCTION_OUTPUT],
    )


def _stack_outputs(emulator: Emulator, stack: str) -> Mapping[str, str]:
    described = emulator.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in described["Outputs"]}
