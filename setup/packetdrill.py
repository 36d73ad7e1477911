"""Build packetdrill, which runs the kernel's own TCP tests, from a source that the user names.

packetdrill isn't in any package registry; its authors publish it in the repository google/packetdrill on GitHub. The source is a folder or
an archive, of which only the files needed to build packetdrill are used. Each file is read only once, so that the hashed bytes are also the
bytes that are compiled.
"""

import io
import lzma
import os
import re
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import build_outputs
from build_container import IN_CONTAINER, LONGEST_S, contained, said_by
from cache import cache_entry, digest, made_once, remove_tree
from progress import SetupError, say
from study_files.kernels import CHECKOUT
from testbed.machine.given_file import given_bytes
from wording.missing_files import absence

#: Folder with the script that builds packetdrill, and with the source of the library that is preloaded into packetdrill.
RECIPE = CHECKOUT / "envs/selftests"
#: Pattern of the names of packetdrill's source files, and files by which its folder is recognized.
PART = re.compile(r"[\w-]+\.[chly]|Makefile(\.\w+)?", re.A)
KNOWN_BY = {"packetdrill.c", "parser.y", "lexer.l", "Makefile.Linux"}
#: Files that an earlier build may have left in the source folder.
MADE = {"parser.c", "parser.h", "lexer.c"}
#: Maximum size in bytes of an archive, of its unpacked content, of a source file, and of all source files together. The source is 1 MB.
LARGEST_ARCHIVE, LARGEST_CONTENT, LARGEST_PART, LARGEST_SOURCE = 2**28, 2**30, 2**22, 2**26
#: Maximum size of a program in bytes.
LARGEST_PROGRAM = 2**25
#: Name of a file that `provide_packetdrill` makes -> name of the file that the build writes.
PROGRAMS = {"packetdrill": "stripped", "virtual_time.so": "virtual_time.so"}
#: Exceptions that reading a damaged archive may raise.
DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError)


def provide_packetdrill(source, compiler) -> tuple[Path, str]:
    """Build `PROGRAMS` unless they are cached, and return their folder and the SHA-256 of the source.

    Parameters
    ----------
    source : pathlib.Path
        Path to a folder or an archive (tar, zip).
    compiler : pathlib.Path
        Folder of the image in which kernels are built.

    Raises
    ------
    SetupError
        If the source can't be read, isn't packetdrill's source, or doesn't compile. In the last case, the message quotes the compiler.
    """
    files = source_files(source)
    sha256 = digest(*(part for name in sorted(files) for part in (name, files[name])))
    final = cache_entry("selftests", f"packetdrill-{digest(compiler.name, RECIPE, sha256)[:16]}")
    with made_once(final) as partial:
        if partial is not None:
            say(f"packetdrill: building {source}")
            work = partial / "work"
            work.mkdir()
            for name, content in files.items():
                (work / name).write_bytes(content)
            build(work, compiler / "root", source)
            for name, output in PROGRAMS.items():
                (partial / name).write_bytes(build_outputs.read_output(work, output, LARGEST_PROGRAM))
                (partial / name).chmod(0o755)
            remove_tree(work)
    return final, sha256


def build(work, root, source) -> None:
    """Build packetdrill in the image ``root``; the folder ``work`` contains the source files, and the programs are written to it."""
    command = contained(f"{work}:/build/packetdrill", recipe=RECIPE, seconds=LONGEST_S, root=root)
    status, words = said_by([*command, root, *IN_CONTAINER, "sh", "/build/guest/build_packetdrill"], "packetdrill")
    if status:
        end = "\n".join(line for line in words.splitlines() if not line.startswith("make"))[-2000:]
        raise SetupError(f"PACKETDRILL={source} can't be built:\n{end}")


def source_files(source) -> dict[str, bytes]:
    """Return the contents of packetdrill's source files by name; raise SetupError if the source doesn't contain these files."""
    if why := absence(source, "file or folder"):
        raise SetupError(f"PACKETDRILL={source}: {why}.")
    folders, size = {}, 0
    try:
        for path, content in (_of_folder if source.is_dir() else _of_archive)(source):
            size += len(content)
            if size > LARGEST_SOURCE:
                raise SetupError(f"PACKETDRILL={source} is too large for packetdrill's source: more than {LARGEST_SOURCE:,} bytes of C.")  # fmt: skip
            folders.setdefault(str(path.parent), {})[path.name] = content
    except DAMAGED as error:
        what = "can't be read" if source.is_dir() else "is not a readable archive (tar, zip)"
        raise SetupError(f"PACKETDRILL={source} {what}: {getattr(error, 'strerror', None) or error}.") from None
    found = sorted((folder for folder, files in folders.items() if files.keys() >= KNOWN_BY), key=len)
    if not found:
        raise SetupError(
            f"PACKETDRILL={source} has no source of packetdrill (a folder with {', '.join(sorted(KNOWN_BY))}): "
            "allowed: a folder or an archive (tar, zip) of the repository google/packetdrill on GitHub."
        )
    return folders[found[0]]


def _is_part(path):
    return bool(PART.fullmatch(path.name)) and path.name not in MADE


def _of_folder(source) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield the path and content of each source file in a folder and in its subfolder gtests/net/packetdrill."""
    for place in (source, source / "gtests/net/packetdrill"):
        for name in sorted(os.listdir(place)) if place.is_dir() else ():
            path = place / name
            if _is_part(path) and path.is_file():
                yield PurePosixPath(path), given_bytes(path, LARGEST_PART)


def _of_archive(source) -> Iterator[tuple[PurePosixPath, bytes]]:
    content = io.BytesIO(given_bytes(source, LARGEST_ARCHIVE))
    is_zip = zipfile.is_zipfile(content)
    content.seek(0)
    yield from (_of_zip if is_zip else _of_tar)(content)


def _of_tar(content):
    unpacked = 0
    # The archive is read as a stream; otherwise it would be read once for the list of members, and again for each file.
    with tarfile.open(fileobj=content, mode="r|*") as members:
        for member in members:
            unpacked += member.size
            if unpacked > LARGEST_CONTENT:
                raise tarfile.TarError(f"it has more than {LARGEST_CONTENT:,} bytes of content")
            path = PurePosixPath(member.name)
            if member.isreg() and _is_part(path) and member.size <= LARGEST_PART:
                yield path, members.extractfile(member).read()


def _of_zip(content):
    with zipfile.ZipFile(content) as members:
        for member in members.infolist():
            path = PurePosixPath(member.filename)
            if not member.is_dir() and _is_part(path) and member.file_size <= LARGEST_PART:
                with members.open(member) as opened:
                    yield path, opened.read(LARGEST_PART)


def copy_programs(folder, programs) -> None:
    """Copy `PROGRAMS` from packetdrill's folder in the cache (``folder``) to the folder ``programs``."""
    for name in PROGRAMS:
        shutil.copy(folder / name, programs / name)
