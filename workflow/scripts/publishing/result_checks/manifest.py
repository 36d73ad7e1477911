"""Read the manifest of a results folder (``ro-crate-metadata.json``), and compare the folder's files with the manifest.

The folder may come from someone else: nothing in a manifest is trusted before it has been checked, and files outside the folder are never
opened. This module uses only the standard library.
"""

import errno
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from publishing.result_checks.compressed_json import parse
from publishing.result_checks.folder_walk import files_below
from publishing.result_checks.received_errors import ReceivedError
from run_tables.run_documents import file_sha256

MANIFEST = "ro-crate-metadata.json"
#: Paths of the files in a study's folder that aren't published: logs, recordings of repeated runs (programs may give their logs any name),
#: benchmark files, and kernels, which can be rebuilt.
UNPUBLISHED = re.compile(
    r"logs/.+\.(log|txt|json|json\.gz|passed)"
    r"|logs/(packets|trace)/.+(\.pcapng|\.csv|/(client|server)-\d{1,5}\.[^/]+(?<!html))"
    r"|benchmarks/.+\.tsv|kernels/[^/]+/linux|\.lock"
)
#: Maximum size of a manifest in bytes, more than the 50 MB of a manifest for 100,000 runs.
MAX_MANIFEST_BYTES = 2**26
#: Maximum number of commas in a manifest; there are about five commas in an entry, and one after the reference to the entry.
MOST_COMMAS = 2_000_000
#: Maximum size in bytes of a file listed in a manifest; the largest files are tables.
LARGEST_FILE_BYTES = 2**29


class ManifestError(ValueError):
    """A manifest can't be read or trusted, or a listed file must not be opened."""


class FileEntry(NamedTuple):
    """The entry for a file in a manifest."""

    sha256: str
    size: int


class Problem(NamedTuple):
    """A problem with a file; ``kind`` is ``missing``, ``changed``, ``refused`` or ``not listed``."""

    path: str
    kind: str
    sentence: str


def read_manifest(folder: str | Path) -> dict[str, FileEntry]:
    """Read the list of files that should be in a results folder: path relative to the folder -> entry, sorted by path.

    No returned path is absolute or leads out of the folder by ``..``; `file_in` also checks links. Raises `ManifestError` if the manifest
    is missing or isn't an RO-Crate, if a path leads out of the folder, or if a file is listed twice or without digest or size.
    """
    name = f"{folder}/{MANIFEST}"
    path = file_in(folder, MANIFEST)
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise ManifestError(f"{name}: is larger than {MAX_MANIFEST_BYTES // 2**20} MiB, the limit for manifests.")
        document = parse(path.read_bytes(), MOST_COMMAS)
    except FileNotFoundError:
        raise ManifestError(
            f"{name}: no such file; the workflow writes it after the report, so the study has to be completed first: `make STUDY=...`."
        ) from None
    except OSError as error:
        raise ManifestError(f"{name}: can't be read ({error.strerror}).") from None
    except ReceivedError as error:
        raise ManifestError(f"{name}: {error}.") from None
    graph = document.get("@graph") if isinstance(document, dict) else None
    if not isinstance(graph, list) or not all(isinstance(entity, dict) for entity in graph):
        raise ManifestError(f"{name}: not an RO-Crate, because its @graph is not a list of entities.")
    files = {}
    for entity in graph:
        kinds = entity.get("@type")
        if "File" not in (kinds if isinstance(kinds, list) else [kinds]):
            continue
        try:
            listed = _relative_path(entity.get("@id"))
            if listed in files:
                raise ManifestError(f"{listed} is listed twice.")
            files[listed] = _entry(listed, entity)
        except ManifestError as error:
            raise ManifestError(f"{name}: {error}") from None
    if not files:
        raise ManifestError(f"{name}: lists no file.")
    return dict(sorted(files.items()))


def file_in(folder: str | Path, path: str) -> Path:
    """Return the path of a listed file in a folder; the folder may itself be a link.

    Raises `ManifestError` if the path leads out of the folder, by ``..`` or through a symbolic link, or if something other than a regular
    file exists at the path.
    """
    _relative_path(path, encoded=False)
    place = Path(folder, path)
    try:
        if not place.resolve().is_relative_to(Path(folder).resolve()):
            raise ManifestError(f"{path} is, or contains, a symbolic link that leads out of {folder}.")
        if place.exists() and not stat.S_ISREG(place.stat().st_mode):
            raise ManifestError(f"{path} in {folder} is not a regular file.")
    except (OSError, RuntimeError) as error:  # on a loop of links, Python before 3.13 raises RuntimeError
        what = getattr(error, "strerror", None) or os.strerror(errno.ELOOP)
        raise ManifestError(f"{path} in {folder} can't be followed ({what}).") from None
    return place


def problems(folder: str | Path, files: dict[str, FileEntry], unlisted=True, packed=False) -> Iterator[Problem]:
    """Compare a results folder with the entries from `read_manifest`, and yield the problems.

    Problems with listed files come first. Unless ``unlisted`` is False, files that aren't listed follow, sorted by path; `UNPUBLISHED`
    files only count as problems if ``packed`` is true, because an archive contains none.
    """
    for path, entry in files.items():
        if problem := file_problem(folder, path, entry):
            yield problem
    if unlisted:
        found = (path for path, _ in files_below(folder)) if packed else published_files(folder)
        for path in sorted({*found} - set(files) - {MANIFEST}):
            yield Problem(path, "not listed", f"{folder}/{path} is not listed in {MANIFEST}.")


def file_problem(folder, path, entry) -> Problem | None:
    """Return the `Problem` with a listed file, or None if there is no problem; the size is checked first, then the digest."""
    shown = f"{folder}/{path}"
    try:
        place = file_in(folder, path)
        size = place.stat().st_size
        if size != entry.size:
            return Problem(path, "changed", f"{shown} has {size} bytes; {MANIFEST} says {entry.size}.")
        digest = file_sha256(place)
    except ManifestError as error:
        return Problem(path, "refused", str(error))
    except FileNotFoundError:
        return Problem(path, "missing", f"{shown} is missing; {MANIFEST} lists it.")
    except OSError as error:
        return Problem(path, "refused", f"{shown} can't be read ({error.strerror}).")
    if digest != entry.sha256:
        sentence = f"{shown} was changed: its SHA-256 is {digest}; {MANIFEST} says {entry.sha256}."
        return Problem(path, "changed", sentence)
    return None


def published_files(folder) -> Iterator[str]:
    """Yield the relative paths of all files in a results folder except `UNPUBLISHED` files; links are not followed."""
    yield from (path for path, _ in files_below(folder) if not UNPUBLISHED.fullmatch(path))


def _relative_path(identifier, encoded=True):
    """Return the path in an ``@id``; raise ManifestError if it isn't the path of a file inside the folder."""
    if not isinstance(identifier, str) or not identifier:
        raise ManifestError(f"a file's @id is {json.dumps(identifier)[:80]}, which is not a path.")
    try:
        path = unquote(identifier, errors="strict") if encoded else identifier
        path.encode()
        inside = not encoded or not (urlsplit(identifier).scheme or identifier.startswith("//"))
    except ValueError:  # bytes that aren't text, or a malformed URL
        inside, path = False, ""
    if not inside or any(part in ("", ".", "..") or not part.isprintable() or "\\" in part for part in path.split("/")):
        raise ManifestError(f"{json.dumps(identifier)[:200]} is not a path inside the folder.")
    return path


def _entry(path, entity):
    digest, size = entity.get("sha256"), str(entity.get("contentSize"))
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
        raise ManifestError(f"{path} has no sha256 of 64 hex digits.")
    if not re.fullmatch("0|[1-9][0-9]{0,18}", size):
        raise ManifestError(f"{path} has no contentSize in bytes.")
    if int(size) > LARGEST_FILE_BYTES:
        raise ManifestError(f"{path} has a contentSize of {size} bytes; allowed: up to {LARGEST_FILE_BYTES}.")
    return FileEntry(digest, int(size))
