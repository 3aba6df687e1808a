"""The layer holds what the functions import, for where they run."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from infra.bundling import CLOUD, LOCK, PROVIDED, build_layer, platform_for
from infra.config_values import Target
from local.emulator import EXECUTABLE
from tests.infra.conftest import Synthesized

UNZIPPED_LIMIT_MB = 10


@pytest.fixture(scope="module")
def cloud_layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("cloud")
    build_layer(output, built_for=CLOUD)
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


def test_the_cloud_layer_is_small(cloud_layer: Path) -> None:
    size = sum(path.stat().st_size for path in cloud_layer.rglob("*") if path.is_file()) / 1e6
    assert size < UNZIPPED_LIMIT_MB, f"{size:.1f} MB unzipped"


def test_what_the_runtime_brings_is_not_in_the_layer(cloud_layer: Path, local_layer: Path) -> None:
    for layer in (cloud_layer, local_layer):
        there = {path.name.split(".")[0].split("-")[0] for path in layer.iterdir()}
        assert not there & set(PROVIDED)


def test_the_lock_pins_every_package_by_hash() -> None:
    lines = LOCK.read_text().splitlines()
    pinned = [line for line in lines if line and not line.startswith((" ", "#"))]
    assert pinned
    assert all("==" in line and line.endswith("\\") for line in pinned)
