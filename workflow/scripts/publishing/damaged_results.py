"""Detect damaged result files before the workflow is planned, and set them aside so that the workflow makes them again.

Snakemake compares only modification times, but the manifest of the results lists the SHA-256 of each file. Once the results are finished, a
file that doesn't match the manifest was changed by something other than the workflow. While results are unfinished, for example after an
interrupted call, a file may legitimately be newer than the manifest.
"""

import contextlib
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from publishing.result_checks.manifest import MANIFEST, ManifestError, read_manifest
from publishing.result_checks.manifest import file_problem as problem_of
from testbed.machine.messages import tell
from wording.terminal_text import shown

#: File that records the SHA-256 of the manifest of finished results.
FINISHED = Path("logs/finished.txt")
#: How much newer than the manifest a file of finished results may be, in ns: Snakemake touches the outputs of a rule one by one.
TOUCHED_NS = 1_000_000_000
#: Folder for damaged files, below a results folder.
ASIDE = Path("logs/damaged")
#: Maximum number of damaged files named in a message.
NAMED = 5


def set_damaged_aside(folder: Path, only_say: bool) -> None:
    """Report the result files that don't match the manifest and, unless ``only_say`` is True, move them to `ASIDE`.

    Parameters
    ----------
    folder : pathlib.Path
        Folder of a study's results.
    only_say : bool
        Whether to only report damage, as in a dry run.
    """
    damaged = damaged_files(folder)
    if not damaged:
        return
    named = ", ".join(shown(path) for path in damaged[:NAMED]) + (" and others" if len(damaged) > NAMED else "")
    files = f"{len(damaged)} file{'s' * (len(damaged) > 1)} in {folder}"
    what = "would be made again" if only_say else f"moved to {ASIDE} in this folder and made again"
    if damaged[0] == MANIFEST:
        tell(
            f"{MANIFEST} in {folder} changed since the results were finished, so other changes can't be noticed: {named}; {what}."
        )
    else:
        tell(f"{files} changed since the results were finished: {named}; {what}.")
    if not only_say:
        for path in damaged:
            place = folder / ASIDE / path
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(folder / path, place)


def damaged_files(folder: Path) -> list[str]:
    """Return the paths, relative to the folder, of existing result files that don't match the manifest.

    If the manifest of finished results was changed, return it and all tidy tables, because no digest is known; if the manifest is invalid,
    return only its path. Without a manifest, the list is empty.
    """
    manifest = folder / MANIFEST
    try:
        written_ns, digest = manifest.stat().st_mtime_ns, _sha256(manifest)
    except OSError:
        return []
    finished = _finished_digest(folder)
    if finished and finished != digest:
        # The manifest itself was changed, so no digest is known. Without the tidy tables, the workflow makes everything again except the
        # runs.
        return [MANIFEST, *(str(path.relative_to(folder)) for path in sorted(folder.glob("tidy/*")))]
    try:
        listed = read_manifest(folder)
    except ManifestError:
        return [MANIFEST]

    def is_damaged(path):
        with contextlib.suppress(OSError):
            may_be_new = not finished and (folder / path).lstat().st_mtime_ns > written_ns
            problem = None if may_be_new else problem_of(folder, path, listed[path])
            return problem is not None and problem.kind != "missing"

    with ThreadPoolExecutor() as pool:  # hashing releases Python's global lock
        return [path for path, damaged in zip(listed, pool.map(is_damaged, listed), strict=True) if damaged]


def note_begun(folder: Path) -> None:
    """Mark results as unfinished, because jobs are about to change them."""
    with contextlib.suppress(OSError):
        (folder / FINISHED).unlink(missing_ok=True)


def note_finished(folder: Path) -> None:
    """Mark results as finished unless a file in the manifest is newer than the manifest by more than `TOUCHED_NS`."""
    manifest = folder / MANIFEST
    with contextlib.suppress(OSError, ManifestError):
        written_ns = manifest.stat().st_mtime_ns
        if all((folder / path).stat().st_mtime_ns <= written_ns + TOUCHED_NS for path in read_manifest(folder)):
            (folder / FINISHED).parent.mkdir(exist_ok=True)
            (folder / FINISHED).write_text(_sha256(manifest) + "\n")


def _finished_digest(folder):
    with contextlib.suppress(OSError):
        return (folder / FINISHED).read_text(errors="replace").strip()
    return ""


def _sha256(path):
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
