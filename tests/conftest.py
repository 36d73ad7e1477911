"""What all tests share: where the repository is, and its modules made importable."""
import gzip
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
for folder in (ROOT / "tests", ROOT / "workflow", ROOT / "workflow" / "scripts"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


@pytest.fixture(scope="session")
def root():
    """The repository's folder."""
    return ROOT


@pytest.fixture
def recorded():
    """A function that reads a recorded run document (see tests/data/README.md) anew at each call."""

    def read(name):
        return json.loads(gzip.decompress((ROOT / "tests" / "data" / f"{name}.json.gz").read_bytes()))

    return read
