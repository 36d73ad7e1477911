"""Suggest results folders for a misspelt name."""

import difflib
import os
from pathlib import Path

from publishing.result_checks.received_errors import shown


def nearest_to(folder: Path) -> str:
    """Return a hint that lists the folders whose names are most similar to the name of a missing folder, or an empty string."""
    try:
        beside = os.listdir(folder.parent)
    except OSError:
        return ""
    near = difflib.get_close_matches(folder.name, beside, n=3, cutoff=0.6)
    return f" (nearest: {', '.join(shown(str(folder.parent / name)) for name in near)})" if near else ""
