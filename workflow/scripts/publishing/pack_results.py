"""Pack a study's published files into one archive: ``python -m publishing.pack_results results/<study>``.

The archive is a zipped RO-Crate with the manifest and exactly the files that the manifest lists. Each file's digest is verified while the
file is packed. Identical results produce byte-identical archives.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import zipfile
from pathlib import Path

from publishing.result_checks.manifest import MANIFEST, ManifestError, file_in, problems, read_manifest
from publishing.result_checks.nearest_results import nearest_to
from testbed.machine.messages import tell
from wording.missing_files import absence

#: Date and mode of every file in the archive: the earliest date that ZIP supports, and read permission for all users.
DATE, MODE = (1980, 1, 1, 0, 0, 0), 0o100644
#: Suffixes of files that are already compressed.
STORED = (".gz", ".parquet")
CHUNK_BYTES = 2**20


def _pack(folder: Path, target: Path) -> int:
    """Write the archive of a results folder; return the number of packed files, including the manifest.

    An existing archive is replaced only when the new archive is complete. If the manifest is unusable, or a file is missing or differs from
    its entry in the manifest, ManifestError is raised and no archive is written.
    """
    files = read_manifest(folder)
    wrong = next(problems(folder, files, unlisted=False), None)
    if wrong:
        raise ManifestError(f"{wrong.sentence} Nothing was packed.")
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as place:
        partial = Path(place, target.name)
        with partial.open("wb") as stream:
            with zipfile.ZipFile(stream, "w") as archive:
                _add(archive, folder, MANIFEST)
                for path, entry in files.items():
                    if _add(archive, folder, path) != entry.sha256:
                        raise ManifestError(f"{folder}/{path} was changed while it was packed. Nothing was packed.")
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(target)
    return len(files) + 1


def _add(archive, folder, path):
    """Add a file to the archive and return the SHA-256 of the packed content."""
    details = zipfile.ZipInfo(path, DATE)
    details.external_attr = MODE << 16
    details.create_system = 3  # Unix, whatever system this runs on
    details.compress_type = zipfile.ZIP_STORED if path.endswith(STORED) else zipfile.ZIP_DEFLATED
    digest = hashlib.sha256()
    with file_in(folder, path).open("rb") as source:
        details.file_size = os.fstat(source.fileno()).st_size
        with archive.open(details, "w") as packed:
            while chunk := source.read(CHUNK_BYTES):
                digest.update(chunk)
                packed.write(chunk)
    return digest.hexdigest()


def main(arguments=None) -> int:
    """Read the command line, write the archive and print its path; return the exit status."""
    parser = argparse.ArgumentParser(prog="pack_results", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="results/<study>")
    parser.add_argument("--output", type=Path, help="path of the archive; <folder>.crate.zip if not given")
    options = parser.parse_args(arguments)
    if not os.path.isdir(options.folder):
        why = absence(options.folder, "folder") or "it is not a folder"
        tell(f"{options.folder}: {why}{nearest_to(options.folder)}; RESULTS is results/<study>.")
        return 1
    target = options.output or options.folder.parent / f"{os.path.basename(os.path.realpath(options.folder))}.crate.zip"
    try:
        count = _pack(options.folder, target)
    except (ManifestError, OSError) as error:
        problem = error if isinstance(error, ManifestError) else f"{target} can't be written ({error.strerror})."
        tell(str(problem))
        return 1
    print(f"{target}: {count} files, {target.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
