"""The examples in docstrings give the stated results."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOTS = (ROOT / "workflow" / "scripts", ROOT / "workflow")
MODULES = sorted(
    {
        ".".join(path.relative_to(root).with_suffix("").parts)
        for root, folder in (
            (ROOTS[0], ROOTS[0]),
            *((ROOTS[1], ROOTS[1] / package) for package in ("experiment", "testbed", "simulator")),
        )
        for path in folder.rglob("*.py")
        if ">>>" in path.read_text(encoding="utf-8")
    }
)


def test_there_are_examples():
    assert MODULES


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted and not result.failed
