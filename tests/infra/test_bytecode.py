"""What is deployed need not be compiled where it cannot be kept."""

import marshal
import subprocess
import sys
from pathlib import Path

import pytest

from infra import bundling
from infra.bundling import CLOUD, Platform, build_layer, build_sources, platform_for
from infra.bytecode import compile_all, interpreter
from infra.config_values import Target

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
NEVER = "3.99"
SOURCE = "VALUE = 'as compiled'\n"
HEADER_BYTES = 16


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    (tmp_path / "module.py").write_text(SOURCE)
    compile_all(tmp_path, python=Path(sys.executable), runs_at="/opt/python")
    return tmp_path


def test_bytecode_names_the_place_where_it_runs(compiled: Path) -> None:
    (file,) = compiled.rglob("*.pyc")
    code = marshal.loads(file.read_bytes()[HEADER_BYTES:])  # noqa: S302 - made by this test
    assert code.co_filename == "/opt/python/module.py"


def test_bytecode_counts_whatever_its_source_has_become(compiled: Path) -> None:
    (compiled / "module.py").write_text("VALUE = 'compiled again'\n")
    program = f"import sys; sys.path.insert(0, {str(compiled)!r}); import module; print(module.VALUE)"
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "as compiled\n"


def test_bytecode_made_again_elsewhere_is_the_same(
    compiled: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    again = tmp_path_factory.mktemp("again")
    (again / "module.py").write_text(SOURCE)
    compile_all(again, python=Path(sys.executable), runs_at="/opt/python")
    (first,), (second,) = (list(folder.rglob("*.pyc")) for folder in (compiled, again))
    assert first.read_bytes() == second.read_bytes()


def test_a_python_that_is_not_there_is_named_and_missed_by_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    interpreter.cache_clear()
    assert interpreter(NEVER) is None
    assert f"Python {NEVER} not found" in capfd.readouterr().err


def test_this_machine_s_python_is_found() -> None:
    assert interpreter(HERE) is not None


def test_layer_and_sources_of_the_cloud_have_bytecode_where_its_python_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Platform(python=HERE, machine=CLOUD.machine)
    monkeypatch.setattr(bundling, "CLOUD", here)
    build_layer(tmp_path / "layer", built_for=here)
    build_sources(tmp_path / "sources", built_for=here)
    for module in (
        tmp_path / "layer" / "python" / "msgspec" / "__init__.py",
        tmp_path / "sources" / "session_store" / "errors.py",
    ):
        cached = module.parent / "__pycache__" / f"{module.stem}.cpython-{HERE.replace('.', '')}.pyc"
        assert module.exists()
        assert cached.exists()


def test_the_emulator_compiles_for_itself(tmp_path: Path) -> None:
    build_sources(tmp_path, built_for=platform_for(Target.LOCAL))
    assert (tmp_path / "session_store" / "errors.py").exists()
    assert not list(tmp_path.rglob("*.pyc"))


def test_an_asset_with_bytecode_is_another_than_one_without(monkeypatch: pytest.MonkeyPatch) -> None:
    from aws_cdk import App, Stack  # noqa: PLC0415 - as slow as the CDK is, the other tests need none of it

    def keys() -> list[str]:
        app = App(context={"aws:cdk:bundling-stacks": []})
        assets = (bundling.dependency_layer(CLOUD), bundling.function_sources(CLOUD))
        bound = [code.bind(Stack(app, f"Stack{number}")) for number, code in enumerate(assets)]
        return [code.s3_location.object_key for code in bound if code.s3_location]

    found = []
    for python in (None, Path(sys.executable)):
        monkeypatch.setattr(bundling, "interpreter", lambda _, python=python: python)
        found.append(keys())
    without, with_bytecode = found
    assert len(without) == 2
    assert not set(without) & set(with_bytecode)
