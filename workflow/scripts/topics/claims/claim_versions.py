"""Record the versions of the claims file by which a study is judged: the claims before any results existed, and each later change.

The record of these versions is stored with the results and is append-only. The record contains no times and no machine names. Instead, it
gives for each version the number of runs that had been recorded when the version was first used.
"""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from topics.claims.tables import FIXED

#: Path of the record in a study's results.
RECORD = "workflow/claims-record.json"


def version_of(content, sha256) -> dict:
    """Return the digests that identify one version of a claims file.

    The result is a dict of ``sha256`` (of the file's bytes), ``claims`` (id -> digest) and ``rest`` (digest of everything else). A claim's
    digest ignores the claim's `cause`, because causes are found after the runs.
    """
    claims = {
        claim["id"]: _digest({key: value for key, value in claim.items() if key != "cause"})
        for claim in content["claims"]
    }
    return {"sha256": sha256, "claims": claims, "rest": _digest({**content, "claims": None})}


def _digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def record_claims(folder, version) -> None:
    """Add a version (from `claims_version`) to a study's record, unless the last version in the record is the same."""
    path = Path(folder, RECORD)
    versions = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    if not versions or versions[-1]["sha256"] != version["sha256"]:
        versions.append({"runs": sum(1 for _ in Path(folder, "runs").glob("*/*/*/*.json.gz"))} | version)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(versions, indent=1) + "\n", encoding="utf-8")
    os.replace(new, path)


def changes(versions) -> Iterator[dict]:
    """Yield the rows of `CLAIM_VERSIONS` for a record, given as a list of versions."""
    before = None
    for number, version in enumerate(versions, 1):
        row = {"version": number, "sha256": version["sha256"], "runs": version["runs"], "claim": ""}
        if before is None:
            yield row | {"change": FIXED}
        else:
            yield from (row | change for change in _differences(before, version))
        before = version


def _differences(before, after):
    old, new = before["claims"], after["claims"]
    changes = [{"claim": name, "change": "added"} for name in new if name not in old]
    changes += [{"claim": name, "change": "changed"} for name in new if name in old and new[name] != old[name]]
    changes += [{"claim": name, "change": "removed"} for name in old if name not in new]
    if before["rest"] != after["rest"]:
        changes.append({"claim": "", "change": "paper or scenarios changed"})
    return changes or [{"claim": "", "change": "comments or causes only"}]
