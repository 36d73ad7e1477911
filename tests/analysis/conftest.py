"""Make the workflow's scripts and the generator of tidy tables importable."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
for folder in (ROOT / "tests", ROOT / "workflow" / "scripts"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
