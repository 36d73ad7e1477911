"""The specification of a run, for tests of modules that read run documents: a recorded specification with some values changed."""

import gzip
import json
from pathlib import Path

RECORDED = Path(__file__).parent / "data" / "lossy-reno-ipv4.json.gz"


def asked(scenario=None, **keys) -> dict:
    """Return the recorded specification with ``scenario`` merged into it, section by section."""
    specification = json.loads(gzip.decompress(RECORDED.read_bytes()))["specification"]
    return specification | keys | {"scenario": _merged(specification["scenario"], scenario or {})}


def _merged(values, changed):
    return values | {
        key: _merged(values[key], value) if isinstance(value, dict) and isinstance(values.get(key), dict) else value
        for key, value in changed.items()
    }
