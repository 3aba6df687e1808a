"""Each benchmark runs, at a small size, in a process of its own: it takes the environment for itself."""

import os
import subprocess
import sys

import pytest

SMALL = {
    "operations": "main()",
    "growth": "main((1, 3))",
    "latency": "main(1)",
    "cold_start": "main(1, packages=['heartbeat'])",
    "contention": "main(4)",
    "claims": "main()",
}


@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_runs_and_publishes_one_section_of_tables(name: str) -> None:
    program = (
        f"import bench.{name} as benchmark\n"
        "benchmark.publish = lambda _, *, command, results, **rest: print('published', command, results)\n"
        f"benchmark.{SMALL[name]}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": "lambdas:."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("published") == 1
    assert f"python -m bench.{name}" in done.stdout
    assert "| --- |" in done.stdout
