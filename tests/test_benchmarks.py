"""Each benchmark can be called as documented, without a search path from the caller."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = [
    file
    for file in sorted((Path(__file__).resolve().parents[1] / "benchmarks").glob("*.py"))
    if "ArgumentParser(" in file.read_text(encoding="utf-8")
]


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda file: file.stem)
def test_a_benchmark_says_what_it_does(program, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    done = subprocess.run([sys.executable, program, "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("usage: "), done.stderr
