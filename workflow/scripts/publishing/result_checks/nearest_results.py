"""Suggest results folders for a misspelt name."""

import difflib
import os
from pathlib import Path

from publishing.result_checks.received_errors import shown


def nearest_to(folder: Path) -> str:
    """Return a hint with the most similar names beside a missing folder; empty if there are none, or if the path isn't missing."""
    if os.path.lexists(folder):
        return ""
    try:
        beside = os.listdir(folder.parent)
    except OSError:
        return ""
    near = difflib.get_close_matches(folder.name, beside, n=3, cutoff=0.6)
    return f" (nearest: {', '.join(shown(str(folder.parent / name)) for name in near)})" if near else ""
