"""Pack a study's published files into one archive: ``python -m publishing.pack_results results/<study>``.

The archive is an RO-Crate in ZIP: the manifest and exactly the files that it lists, each
checked against its digest while it is packed. The same results give the same bytes.
"""

import argparse
import hashlib
import os
import sys
import tempfile
import zipfile
from pathlib import Path

from publishing.result_checks.manifest import MANIFEST, ManifestError, file_in, problems, read_manifest

#: Of every file in the archive: the earliest that ZIP knows, and readable by all.
DATE, MODE = (1980, 1, 1, 0, 0, 0), 0o100644
#: Compressed already.
STORED = (".gz", ".parquet")
CHUNK_BYTES = 2**20


def pack(folder, target) -> int:
    """Write the archive of a results folder in one step.

    Parameters
    ----------
    folder : str or pathlib.Path
        ``results/<study>``, with its manifest.
    target : str or pathlib.Path
        The archive; one that is there is replaced once the new one is whole.

    Returns
    -------
    int
        How many files it holds, the manifest among them.

    Raises
    ------
    ManifestError
        If the manifest can't be used, or a file is missing or not as it was listed; nothing is written then.
    """
    folder, target = Path(folder), Path(target)
    files = read_manifest(folder)
    wrong = next(problems(folder, files, unlisted=False), None)
    if wrong:
        raise ManifestError(f"{wrong.sentence} Nothing was packed.")
    handle, partial = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            with zipfile.ZipFile(stream, "w") as archive:
                add(archive, folder, MANIFEST)
                for path, entry in files.items():
                    if add(archive, folder, path) != entry.sha256:
                        raise ManifestError(f"{folder}/{path} was changed while it was packed. Nothing was packed.")
            stream.flush()
            os.fsync(stream.fileno())
            os.fchmod(stream.fileno(), 0o666 & ~umask())
        os.replace(partial, target)
    except BaseException:
        os.unlink(partial)
        raise
    return len(files) + 1


def add(archive, folder, path) -> str:
    """Add one file and return its SHA-256 as it was packed."""
    details = zipfile.ZipInfo(path, DATE)
    details.external_attr = MODE << 16
    details.create_system = 3  # Unix, wherever this runs
    details.compress_type = zipfile.ZIP_STORED if path.endswith(STORED) else zipfile.ZIP_DEFLATED
    digest = hashlib.sha256()
    with file_in(folder, path).open("rb") as source:
        details.file_size = os.fstat(source.fileno()).st_size
        with archive.open(details, "w") as packed:
            while chunk := source.read(CHUNK_BYTES):
                digest.update(chunk)
                packed.write(chunk)
    return digest.hexdigest()


def umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def main(arguments=None) -> int:
    """Read the command line, pack, and say where the archive is; return the exit status."""
    parser = argparse.ArgumentParser(prog="pack_results", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="results/<study>")
    parser.add_argument("--output", type=Path, help="the archive; by default <folder>.crate.zip")
    options = parser.parse_args(arguments)
    folder = options.folder
    target = options.output or folder.parent / f"{folder.resolve().name}.crate.zip"
    try:
        count = pack(folder, target)
    except ManifestError as error:
        print(f"sawtooth: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"sawtooth: {target} can't be written ({error.strerror}).", file=sys.stderr)
        return 1
    print(f"{target}: {count} files, {target.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
