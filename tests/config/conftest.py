"""The modules under test stand beside the workflow's scripts, not in a package."""
import copy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

SMALL = {
    "study": "small",
    "ccas": ["reno", "cubic"],
    "scenarios": [{"id": "near"}, {"id": "far", "link": {"delay_ms": 100}}],
}


@pytest.fixture
def root():
    """The repository's folder."""
    return ROOT


@pytest.fixture
def small():
    """A study with only what must be given, and a second scenario; changes stay in the test."""
    return copy.deepcopy(SMALL)
