"""The layer holds what the functions import, for where they run."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from aws_cdk import App, FileSystem, IgnoreMode, Stack

from infra import bundling
from infra.bundling import (
    CLOUD,
    LOCK,
    NOT_DEPLOYED,
    PROVIDED,
    SOURCES,
    TOKEN_LOCK,
    build_layer,
    dependency_layer,
    platform_for,
)
from infra.config_values import Target
from local.emulator import EXECUTABLE
from tests.infra.conftest import Synthesized

UNZIPPED_LIMIT_MB = 6
TOKENS_LIMIT_MB = 20
"""Of the layer that the authorizer alone has; nearly all of it is cryptography's one library."""


@pytest.fixture(scope="module")
def cloud_layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("cloud")
    build_layer(output, built_for=CLOUD)
    return output / "python"


@pytest.fixture(scope="module")
def cloud_tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("tokens")
    build_layer(output, built_for=CLOUD, lock=TOKEN_LOCK)
    return output / "python"


@pytest.fixture(scope="module")
def local_layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("local")
    build_layer(output, built_for=platform_for(Target.LOCAL))
    return output / "python"


def test_the_cloud_runs_python_3_13_on_arm64(dev: Synthesized) -> None:
    function = dev.function("session_api")
    (layer,) = dev.properties("AWS::Lambda::LayerVersion")
    assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
    assert (layer["CompatibleRuntimes"], layer["CompatibleArchitectures"]) == (["python3.13"], ["arm64"])


def test_the_emulator_runs_this_machine_s_python(local: Synthesized) -> None:
    function = local.function("session_api")
    assert function["Runtime"] == f"python{sys.version_info.major}.{sys.version_info.minor}"
    machine = "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64"
    assert function["Architectures"] == [machine]


def test_the_layer_of_each_target_is_an_asset_of_its_own(dev: Synthesized, local: Synthesized) -> None:
    (cloud,) = dev.properties("AWS::Lambda::LayerVersion")
    (host,) = local.properties("AWS::Lambda::LayerVersion")
    assert cloud["Content"]["S3Key"] != host["Content"]["S3Key"]


def test_the_layer_and_boto3_are_all_that_a_function_needs(local_layer: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(local_layer)!r})\n"
        "import botocore.session, msgspec, aws_lambda_powertools.event_handler\n"
        "print(msgspec.__file__, aws_lambda_powertools.__file__)"
    )
    done = subprocess.run(
        # The emulator's environment has boto3 and none of the project's own dependencies.
        [EXECUTABLE.with_name("python"), "-I", "-c", program],
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(file.startswith(str(local_layer)) for file in done.stdout.split())


def test_the_cloud_layer_is_compiled_for_its_target(cloud_layer: Path) -> None:
    compiled = sorted(path.name for path in cloud_layer.rglob("*.so"))
    assert compiled
    assert all("cpython-313-aarch64" in name for name in compiled), compiled


def told(layer: Path) -> dict[str, tuple[str, str]]:
    """Mode and hash of every file, by its place: all that goes into the zip, where each time is 1980."""
    return {
        str(file.relative_to(layer)): (
            oct(file.stat().st_mode),
            hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "",
        )
        for file in layer.rglob("*")
    }


def test_a_layer_built_again_elsewhere_is_the_same(cloud_layer: Path, tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        build_layer(tmp_path / "another" / "folder", built_for=CLOUD)
    finally:
        os.umask(umask)
    assert told(tmp_path / "another" / "folder" / "python") == told(cloud_layer)


def test_the_layers_hash_follows_from_what_determines_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def asset(built_for: bundling.Platform = CLOUD) -> str:
        app = App(context={"aws:cdk:bundling-stacks": []})
        code = dependency_layer(built_for).bind(Stack(app, "Layer"))
        assert code.s3_location is not None
        return str(code.s3_location.object_key)

    first = asset()
    assert asset() == first
    assert asset(replace(CLOUD, machine="x86_64")) != first
    monkeypatch.setattr(bundling, "UNUSED", ())
    assert asset() != first


def test_the_functions_hash_is_of_their_text_alone(tmp_path: Path) -> None:
    again = tmp_path / "lambdas"
    shutil.copytree(SOURCES, again, copy_function=shutil.copyfile)
    (again / "session_store" / "__pycache__").mkdir(exist_ok=True)
    (again / "session_store" / "__pycache__" / "schema.cpython-313.pyc").write_bytes(b"compiled")

    def told_by_cdk(folder: Path) -> str:
        return FileSystem.fingerprint(str(folder), exclude=list(NOT_DEPLOYED), ignore_mode=IgnoreMode.GLOB)

    assert told_by_cdk(again) == told_by_cdk(SOURCES)


def test_what_is_left_out_is_not_missed(cloud_layer: Path) -> None:
    left = {path.name for path in cloud_layer.rglob("*")}
    assert not left & {"RECORD", "INSTALLER", "swagger-ui-bundle.min.js", "_wrappers.c", "__init__.pyi"}
    assert list(cloud_layer.glob("*.dist-info/METADATA"))
    assert list(cloud_layer.glob("*.dist-info/**/LICENSE*"))


def test_the_cloud_layer_is_small(cloud_layer: Path) -> None:
    size = sum(path.stat().st_size for path in cloud_layer.rglob("*") if path.is_file()) / 1e6
    assert size < UNZIPPED_LIMIT_MB, f"{size:.1f} MB unzipped"


def test_the_tokens_layer_is_compiled_for_its_target_and_bounded(cloud_tokens: Path) -> None:
    compiled = sorted(path.name for path in cloud_tokens.rglob("*.so"))
    assert compiled == ["_cffi_backend.cpython-313-aarch64-linux-gnu.so", "_rust.abi3.so"]
    # The header's machine: 183 is AArch64.
    (rust,) = cloud_tokens.rglob("_rust.abi3.so")
    assert int.from_bytes(rust.read_bytes()[18:20], "little") == 183
    size = sum(path.stat().st_size for path in cloud_tokens.rglob("*") if path.is_file()) / 1e6
    assert size < TOKENS_LIMIT_MB, f"{size:.1f} MB unzipped"


def test_what_verifies_tokens_is_in_no_other_layer(cloud_layer: Path, cloud_tokens: Path) -> None:
    assert not list(cloud_layer.glob("jwt")) + list(cloud_layer.glob("cryptography"))
    assert (cloud_tokens / "jwt").is_dir()


def test_what_the_runtime_brings_is_not_in_the_layer(cloud_layer: Path, local_layer: Path) -> None:
    for layer in (cloud_layer, local_layer):
        there = {path.name.split(".")[0].split("-")[0] for path in layer.iterdir()}
        assert not there & set(PROVIDED)


@pytest.mark.parametrize("lock", [LOCK, TOKEN_LOCK], ids=lambda lock: lock.parent.name)
def test_the_lock_pins_every_package_by_hash(lock: Path) -> None:
    lines = lock.read_text().splitlines()
    pinned = [line for line in lines if line and not line.startswith((" ", "#"))]
    assert pinned
    assert all("==" in line and line.endswith("\\") for line in pinned)
