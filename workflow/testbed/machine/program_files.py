"""Files of a study's declared programs, which are read from the user's folder, archived with the study, and copied into each run.

A program is identified by a SHA-256 digest of its files' names, contents and executable flags. The digest doesn't depend on the dates,
owners or original location of the files.

``python3 -m testbed.machine.program_files PATH SHA256 ARCHIVE`` archives a program.
"""

import hashlib
import io
import os
import stat
import sys
import tarfile
from pathlib import Path

from testbed.machine.given_file import GivenFileError, given_bytes
from testbed.machine.messages import in_words, tell

#: Limits on a program's files: total size in bytes, and number.
LARGEST_BYTES, MOST_FILES = 2**29, 2000


def files_of(path) -> dict[str, tuple[bytes, bool]]:
    """Return the files of a program: name within its folder -> (content, whether the file is executable).

    ``path`` is a file or a folder, which may have subfolders. Symbolic links to files within the folder are followed. Raises `OSError` if a
    file can't be read, isn't a regular file or is a link that leads out of the folder, if a subfolder is a symbolic link, or if a name
    isn't printable UTF-8.
    """
    path = Path(path)
    places = [path] if not path.is_dir() else _places(path)
    files, left = {}, LARGEST_BYTES
    for place in places:
        name = _printable(place.name if place == path else place.relative_to(path).as_posix())
        content = given_bytes(place, left) if place == path else _content(path, name, left)
        left -= len(content)
        files[name] = content, bool(place.stat().st_mode & stat.S_IXUSR)
    if not files:
        raise GivenFileError("it is a folder without files")
    return files


def _printable(name):
    """Return a file's name; raise `GivenFileError` if the name isn't printable or isn't UTF-8, because digests and messages contain it."""
    if not name.isprintable():
        raise GivenFileError(f"its file {ascii(name)} has a name that isn't printable UTF-8")
    return name


def _content(folder, name, left):
    """Return the content of a file in a folder; error messages name the file."""
    place = folder / name
    if place.is_symlink():
        if not place.exists():
            raise GivenFileError(f"its file {name} is a dangling link")
        if not place.resolve().is_relative_to(folder.resolve()):
            raise GivenFileError(
                f"its file {name} is a symbolic link that leads out of the folder; replace the link by a copy"
            )
    try:
        return given_bytes(place, left)
    except OSError as error:
        raise GivenFileError(f"its file {name} can't be used ({error.strerror})") from None


def _places(folder):
    """Return the sorted paths of all files below a folder; raise `OSError` if there are too many files, or if a subfolder is a link."""
    places = []
    for parent, folders, names in os.walk(folder, onerror=_refuse_folder):
        for link in (Path(parent, name) for name in sorted(folders)):
            if link.is_symlink():
                raise GivenFileError(
                    f"its subfolder {link.relative_to(folder)} is a symbolic link; replace the link by a copy"
                )
        places += [Path(parent, name) for name in sorted(names)]
        if len(places) > MOST_FILES:
            raise GivenFileError(f"it has more than {MOST_FILES:,} files")
    return sorted(places)


def _refuse_folder(error):
    raise GivenFileError(
        f"its folder {ascii(os.path.basename(error.filename))} can't be read ({error.strerror})"
    ) from None


def digest_of(files) -> str:
    """Return the SHA-256 digest that identifies a program's files, in hexadecimal digits."""
    whole = hashlib.sha256()
    for name, (content, executable) in sorted(files.items()):
        whole.update(f"{hashlib.sha256(content).hexdigest()} {int(executable)} {name}\n".encode())
    return whole.hexdigest()


def write_archive(files, archive) -> None:
    """Write a program's files to a tar archive; the same files always give the same bytes."""
    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, (content, executable) in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755 if executable else 0o644
            tar.addfile(entry, io.BytesIO(content))


def read_archive(archive) -> dict[str, tuple[bytes, bool]]:
    """Return the files in an archive, in the form of `files_of`.

    Raises `OSError` if ``archive`` is not a tar archive, or contains anything other than a program's files.
    """
    files, content = {}, given_bytes(archive, 2 * LARGEST_BYTES)
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as tar:
            for entry in tar:
                parts = Path(entry.name).parts
                if not entry.isfile() or ".." in parts or Path(entry.name).is_absolute() or len(files) >= MOST_FILES:
                    raise GivenFileError(
                        f"it has an entry that is not a program's file, or more than {MOST_FILES:,} entries"
                    )
                files[_printable(entry.name)] = tar.extractfile(entry).read(), bool(entry.mode & stat.S_IXUSR)
    except tarfile.TarError as error:
        raise GivenFileError(f"it is not an archive of a program ({error})") from None
    return files


def lay(folder, archive, sha256) -> None:
    """Extract a program's files from an archive into a new folder that all users may read.

    Raises `OSError` if the digest of the files isn't ``sha256``.
    """
    files = read_archive(archive)
    if digest_of(files) != sha256:
        raise GivenFileError("its files differ from those that the study names")
    folder.mkdir(parents=True)
    for name, (content, executable) in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(0o755 if executable else 0o644)
    for one in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        one.chmod(0o755)


def main(path, sha256, archive) -> int:
    """Archive a program's files if their digest is ``sha256``; return the exit status."""
    try:
        files = files_of(path)
    except OSError as error:
        tell(in_words(error))
        return 1
    if (found := digest_of(files)) != sha256:
        tell(f"{path}: its files have SHA-256 {found}, but had {sha256} when the study was read; start the study again")
        return 1
    write_archive(files, archive)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
