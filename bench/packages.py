"""``python -m bench.packages``: the size of the deployed packages, and the time of synthesis."""

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.report import publish, table
from infra.bundling import CLOUD, NOT_DEPLOYED, ROOT, SOURCES, build_layer

MB: Final = 1_000_000
ZIPPED_LIMIT: Final = 50
UNZIPPED_LIMIT: Final = 250
"""MB: limits of an uploaded package, and of a function with its layers (*Lambda quotas*)."""

LARGEST: Final = 5
RUNS: Final = 2
REGIONS: Final = ("us-east-1", "eu-west-1", "ap-northeast-1")
IMPORT: Final = "import aws_cdk"
SYNTH: Final = "import runpy; runpy.run_path('app.py', run_name='__main__')"
ABOUT: Final = f"""\
The layer as built for the cloud, and the asset that all functions share. Lambda's limits for a function with
its layers are {ZIPPED_LIMIT} MB zipped and {UNZIPPED_LIMIT} MB unzipped. Synthesis is the whole of `app.py`
in a process of its own, with cdk-nag and CDK's own validation but without bundling, over a process that only
imports `aws_cdk`. Times are CPU seconds, which other work on the machine hardly affects: the least of
{RUNS} alternating runs each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Bytes."""

    unzipped: int
    zipped: int

    @property
    def row(self) -> tuple[str, str]:
        return (f"{self.zipped / MB:.2f} MB", f"{self.unzipped / MB:.2f} MB")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        build_layer(Path(folder) / "layer", built_for=CLOUD)
        layer = sorted((Path(folder) / "layer").rglob("*"))
        sizes = [
            ("the layer", _size(Path(folder) / "layer", layer)),
            ("the functions, one shared asset", _size(SOURCES, _sources())),
        ]
        packages = [
            (f"in the layer: `{path.name}`", _size(path.parent, [path, *path.rglob("*")]))
            for path in (Path(folder) / "layer" / "python").iterdir()
            if not path.name.endswith(".dist-info")
        ]
        packages.sort(key=lambda package: package[1].unzipped, reverse=True)
        times = _times(Path(folder))
    whole = Size(
        unzipped=sum(size.unzipped for _, size in sizes), zipped=sum(size.zipped for _, size in sizes)
    )
    rows = [*sizes, ("**a function with its layer**", whole), *packages[:LARGEST]]
    results = table(("", "zipped", "unzipped"), [(name, *size.row) for name, size in rows])
    publish(
        "Packages",
        command="python -m bench.packages",
        about=ABOUT,
        results=f"{results}\n\n{_synthesis(times)}",
    )


def _sources() -> Iterable[Path]:
    """The files of the asset."""
    left_out = {file for pattern in NOT_DEPLOYED for file in SOURCES.rglob(pattern)}
    return [path for path in SOURCES.rglob("*") if not left_out & {path, *path.parents}]


def _size(root: Path, paths: Iterable[Path]) -> Size:
    files = [path for path in paths if path.is_file()]
    with tempfile.TemporaryFile() as target:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for file in files:
                archive.write(file, file.relative_to(root))
        return Size(unzipped=sum(file.stat().st_size for file in files), zipped=target.tell())


def _times(folder: Path) -> dict[str, float]:
    """CPU seconds, the least of the runs."""
    programs = {
        IMPORT: (IMPORT, REGIONS[:1]),
        "one region": (SYNTH, REGIONS[:1]),
        "three regions": (SYNTH, REGIONS),
    }
    taken: dict[str, list[float]] = {name: [] for name in programs}
    for run in range(RUNS):
        for name, (program, regions) in programs.items():
            began = _spent()
            _run(program, regions=regions, output=folder / f"cdk.out.{len(regions)}.{run}")
            taken[name].append(_spent() - began)
    return {name: min(seconds) for name, seconds in taken.items()}


def _spent() -> float:
    """CPU seconds of all child processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _run(program: str, *, regions: Sequence[str], output: Path) -> None:
    context = {**_flags(), "regions": list(regions), "aws:cdk:bundling-stacks": []}
    environment = {
        **os.environ,
        "CDK_CONTEXT_JSON": json.dumps(context),
        "CDK_OUTDIR": str(output),
        "PYTHONPATH": f"{SOURCES}{os.pathsep}{ROOT}",
    }
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, check=True)  # noqa: S603 - our own


def _flags() -> dict[str, object]:
    flags: dict[str, object] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return flags


def _synthesis(times: dict[str, float]) -> str:
    base = times[IMPORT]
    rows = [
        (
            f"`{name}`" if name == IMPORT else f"synthesizing {name}",
            f"{seconds / base:.1f}",
            f"{seconds:.1f} s",
        )
        for name, seconds in times.items()
    ]
    return table(("", "ratio to the import", "result"), rows)


if __name__ == "__main__":
    main()
