"""What all tests share: where the repository is, and its modules made importable."""
import gzip
import json
import shutil
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


@pytest.fixture(scope="session")
def chromium():
    """A running Chromium; its absence is a failure, not a skip."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail("The report is tested in Chromium: install it with apt-get install chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()
