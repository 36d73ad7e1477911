"""Patches applied by GNU patch as the recipes in envs/ apply them."""

import shutil
import subprocess
from pathlib import Path

import pytest

ENVS = Path(__file__).resolve().parents[1] / "envs"


def apply_by_recipe(recipe, patches, source) -> None:
    """Apply patches (bytes) to the folder ``source``, which must have this name, with a script in envs/, such as guest/patch_own."""
    if not shutil.which("patch"):
        pytest.skip("GNU patch is not installed")
    folder = source.with_name("patches")
    folder.mkdir()
    for number, text in enumerate(patches):
        (folder / f"{number:03}.patch").write_bytes(text)
    script = (ENVS / recipe).read_text().replace("/build/", f"{source.parent}/")
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
