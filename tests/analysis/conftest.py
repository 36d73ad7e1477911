"""Make the workflow's scripts and the generator of tidy tables importable."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
for folder in (ROOT / "tests", ROOT / "workflow" / "scripts"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from study_files import claims  # noqa: E402


@pytest.fixture(scope="module")
def shipped(request):
    """The claims of the IP paper, loaded."""
    return claims.load_claims(request.config.rootpath / "config/claims/lima-ccas-ipv4-ipv6.yaml")
