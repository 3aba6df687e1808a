"""What the functions run: the sources as one plain asset, their dependencies as one layer.

The layer is built without docker: uv installs wheels for the target's platform
into the asset's folder, whatever machine this is.
"""

import hashlib
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from infra.bytecode import compile_all, interpreter, uv
from infra.config_values import Target

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = ROOT / "lambdas"
LOCK: Final = SOURCES / "requirements.txt"
TOKEN_LOCK: Final = SOURCES / "authorizer" / "requirements.txt"
"""What verifies tokens, which only the authorizer needs: twice as large as all else together."""

LAYER_AT: Final = "/opt/python"
SOURCES_AT: Final = "/var/task"
"""Where Lambda unpacks the Python packages of a layer, and a function."""

NOT_DEPLOYED: Final = ("__pycache__", "*.pyc", "requirements.*")
"""Patterns of sources that are not deployed, at any depth."""

EXCLUDED: Final = [f"**/{pattern}" for pattern in NOT_DEPLOYED]

PROVIDED: Final = (
    "boto3",
    "botocore",
    "s3transfer",
    "jmespath",
    "dateutil",
    "python_dateutil",
    "six",
    "urllib3",
)
"""boto3 with all its dependencies, which Lambda's runtime provides."""

UNUSED: Final = (
    "bin",
    ".lock",
    # Metadata for installers; METADATA and licences stay.
    "*.dist-info/INSTALLER",
    "*.dist-info/RECORD",
    "*.dist-info/REQUESTED",
    "*.dist-info/direct_url.json",
    # For compilers and type checkers.
    "*-stubs",
    "**/*.c",
    "**/*.pyi",
    # The page that renders an OpenAPI document, which the API does not serve.
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/*.css",
    "aws_lambda_powertools/event_handler/openapi/swagger_ui/*.js",
)
"""Files in the layer's packages that no function reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """The interpreter and the CPU that a layer is built for."""

    python: str
    """Major and minor version, as in ``3.13``."""
    machine: str
    """``aarch64`` or ``x86_64``."""

    @property
    def runtime(self) -> lambda_.Runtime:
        return lambda_.Runtime(f"python{self.python}", lambda_.RuntimeFamily.PYTHON)

    @property
    def architecture(self) -> lambda_.Architecture:
        return lambda_.Architecture.ARM_64 if self.machine == "aarch64" else lambda_.Architecture.X86_64

    @property
    def uv_platform(self) -> str:
        # The oldest glibc that the wheels may require; Amazon Linux 2023 has 2.34.
        return f"{self.machine}-manylinux_2_28"


CLOUD: Final = Platform(python="3.13", machine="aarch64")


def platform_for(target: Target) -> Platform:
    """The emulator runs functions on the host, with its own interpreter."""
    if target is Target.CLOUD:
        return CLOUD
    machine = "aarch64" if platform.machine() in ("arm64", "aarch64") else "x86_64"
    return Platform(python=f"{sys.version_info.major}.{sys.version_info.minor}", machine=machine)


def build_layer(output: Path, *, built_for: Platform, lock: Path = LOCK) -> None:
    """Install the lock into ``output/python``, without what the runtime provides and what no function reads.

    Raises ``CalledProcessError``: an empty layer would be cached as a good one.
    """
    site = output / "python"
    # Copied, so that the changes below do not affect uv's cache.
    options = [
        "--link-mode",
        "copy",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--python-version",
        built_for.python,
    ]
    if built_for != platform_for(Target.LOCAL):
        options += ["--python-platform", built_for.uv_platform]
    subprocess.run(  # noqa: S603 - our own arguments
        [uv(), "pip", "install", "--quiet", "--no-deps", "--target", str(site), *options, "-r", str(lock)],
        check=True,
    )
    for name in PROVIDED:
        for path in (*site.glob(name), *site.glob(f"{name}.py"), *site.glob(f"{name}-*.dist-info")):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for pattern in UNUSED:
        for path in list(site.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    _compile(site, built_for=built_for, runs_at=LAYER_AT)
    for path in output.rglob("*"):
        # As in the zip, whatever this machine's umask is.
        path.chmod(0o755 if path.is_dir() or path.suffix == ".so" else 0o644)


def build_sources(output: Path, *, built_for: Platform) -> None:
    """Copy the sources into ``output``."""
    shutil.copytree(SOURCES, output, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*NOT_DEPLOYED))
    _compile(output, built_for=built_for, runs_at=SOURCES_AT)


def _compile(folder: Path, *, built_for: Platform, runs_at: str) -> None:
    if python := _compiler(built_for):
        compile_all(folder, python=python, runs_at=runs_at)


def _compiler(built_for: Platform) -> Path | None:
    """None for the emulator, which unpacks functions where bytecode can be written."""
    return interpreter(built_for.python) if built_for == CLOUD else None


def dependency_layer(built_for: Platform, lock: Path = LOCK) -> lambda_.AssetCode:
    """The asset's hash covers its inputs: the lock is fully pinned, so it determines the wheels."""
    compiled = _compiler(built_for) is not None
    facts = f"{built_for.python}|{built_for.machine}|{PROVIDED}|{UNUSED}|{compiled}|".encode()
    return lambda_.Code.from_asset(
        str(lock.parent),
        exclude=["**", f"!{lock.name}"],
        asset_hash=hashlib.sha256(facts + lock.read_bytes()).hexdigest(),
        asset_hash_type=AssetHashType.CUSTOM,
        bundling=_bundling(partial(build_layer, built_for=built_for, lock=lock), name="layer"),
    )


def function_sources(built_for: Platform) -> lambda_.AssetCode:
    if _compiler(built_for) is None:
        return lambda_.Code.from_asset(str(SOURCES), exclude=EXCLUDED)
    return lambda_.Code.from_asset(
        str(SOURCES),
        exclude=EXCLUDED,
        bundling=_bundling(
            partial(build_sources, built_for=built_for), name=f"bytecode of {built_for.python}"
        ),
    )


def _bundling(build: Callable[[Path], None], *, name: str) -> BundlingOptions:
    """``name`` is part of the asset's hash where the hash covers its sources."""
    return BundlingOptions(
        image=DockerImage.from_registry("never-pulled"), command=[name], local=_LocalBundling(build)
    )


@jsii.implements(ILocalBundling)
class _LocalBundling:
    def __init__(self, build: Callable[[Path], None]) -> None:
        self._build = build

    def try_bundle(self, output_dir: str, _options: BundlingOptions | None = None, **_: object) -> bool:
        self._build(Path(output_dir))
        return True
