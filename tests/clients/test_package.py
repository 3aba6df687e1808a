"""The wheel has the client with its command and types, and the library, but no function."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=300)
    (file,) = folder.glob("*.whl")
    return zipfile.ZipFile(file)


def test_the_wheel_holds_the_client_and_the_library_alone(wheel: zipfile.ZipFile) -> None:
    folders = {name.partition("/")[0] for name in wheel.namelist()}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {
        "session_store",
        "session_store_client",
    }
    assert not [name for name in wheel.namelist() if name.endswith(".pyc")]


def test_the_wheel_is_marked_as_typed(wheel: zipfile.ZipFile) -> None:
    assert "session_store_client/py.typed" in wheel.namelist()
    assert "session_store/py.typed" in wheel.namelist()


def test_the_command_is_installed(wheel: zipfile.ZipFile) -> None:
    (entries,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "sessions = session_store_client.cli.command:main" in wheel.read(entries).decode()


def test_the_dependencies_are_few(wheel: zipfile.ZipFile) -> None:
    (metadata,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    needs = [
        line.removeprefix("Requires-Dist: ")
        for line in wheel.read(metadata).decode().splitlines()
        if line.startswith("Requires-Dist: ")
    ]
    assert sorted(re.split("[<>]", need)[0] for need in needs if ";" not in need) == [
        "botocore",
        "httpx",
        "msgspec",
    ]
    assert [need.partition(">")[0] for need in needs if "extra == 'library'" in need] == ["boto3"]


def test_the_client_alone_loads_neither_the_store_nor_botocore() -> None:
    names = "('botocore', 'session_store')"
    code = f"import sys, session_store_client; print([name for name in {names} if name in sys.modules])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "[]\n"


def test_the_functions_assets_do_not_contain_the_client() -> None:
    assert not list((ROOT / "lambdas").glob("session_store_client*"))
    for lock in (ROOT / "lambdas").rglob("requirements.txt"):
        assert "httpx" not in lock.read_text()


def test_the_command_runs_as_a_module_too() -> None:
    command = [sys.executable, "-m", "session_store_client", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.startswith("usage: sessions ")
