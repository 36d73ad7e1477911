"""Debian packages exactly as envs/debian.lock names them: fetched into the cache, so that builds of images need no network.

The lock is written by `make lock` (lock_debian.py). A package is identified by its SHA-256, whether it comes from
the mirror or, if the mirror has newer packages, from an archive of Debian's past.
"""

import contextlib
import functools
import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import debian
from cache import cache_entry, digest, made_once, remove_tree, require_space
from progress import SetupError
from unpacked import digest_of

LOCK = Path("envs/debian.lock")
#: The Debian release of the images.
RELEASE = "trixie"
#: The section for the root file system, which debootstrap needs as a complete archive.
BASE = "base"
#: The section with programs that the kernel's own tests call; it is fetched only if those tests are run.
SELFTESTS = "selftests"
#: The section with the compilers for QUIC stacks, and the prefix of the sections with programs of a stack; they are fetched only if a stack
#: is built.
STACKS, OF_STACK = "stacks", "stack-"
#: The cache's folder for packages from calls that fetched only part of a section.
FETCHED = "fetched"
HEAD = """\
# Debian packages of the images, `make lock` writes them from debian.in: name, version, architecture, size, SHA-256, place.
# Archives of these times have them all.
"""


@dataclass(frozen=True)
class Package:
    """A locked package.

    Attributes
    ----------
    name, version, architecture : str
    size : int
        In bytes.
    sha256 : str
        In hex digits.
    path : str
        Path below an archive's URL: ``pool/main/...``.
    """

    name: str
    version: str
    architecture: str
    size: int
    sha256: str
    path: str

    @property
    def file(self) -> str:
        """Name of the package's file."""
        return self.path.rpartition("/")[2]


def read_lock(lock=LOCK) -> tuple[str, dict[str, list[Package]]]:
    """Return the archives' times, separated by spaces, in the notation of archives of the past, and the packages of each section.

    Raises
    ------
    SetupError
        The file is missing, or a line of it is malformed.
    """
    times, sections, packages = "", {}, None
    if not lock.is_file():
        raise SetupError(f"{lock} is missing: get it back (`git checkout {lock}`), or write it again with `make lock`.")
    for number, line in enumerate(lock.read_text().splitlines(), 1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if words[0] == "archive" and len(words) > 1 and packages is None:
            times = " ".join(words[1:])
        elif line.startswith("[") and line.endswith("]"):
            packages = sections.setdefault(line[1:-1], [])
        elif packages is not None and len(words) == 6 and words[3].isdigit() and len(words[4]) == 64:
            packages.append(Package(*words[:3], int(words[3]), *words[4:]))
        else:
            raise SetupError(f"{lock}, line {number}: {line!r} is neither a section nor a package of six fields.")
    return times, sections


def write_lock(times, sections, lock=LOCK) -> None:
    """Write a lock file, whole or not at all; the arguments are what `read_lock` returns."""
    text = f"{HEAD}archive {times}\n"
    for section, packages in sections.items():
        text += f"\n[{section}]\n"
        for package in packages:
            text += f"{package.name} {package.version} {package.architecture} {package.size} {package.sha256} {package.path}\n"
    partial = lock.with_name(lock.name + ".partial")
    partial.write_text(text)
    partial.rename(lock)


def is_kernel_source(section) -> bool:
    """Return whether a section is for a Linux source: the image's (``linux``), or one for a study's own kernels (``linux-6.12``)."""
    return section.partition("-")[0] == "linux"


def names(section) -> list[str]:
    """Return the names of a section's packages."""
    return [package.name for package in read_lock()[1].get(section, [])]


def content(section) -> str:
    """Return the text for a section in an image's key: names, versions and hashes of its packages, but not their paths."""
    packages = read_lock()[1].get(section, [])
    return "".join(f"{package.name} {package.version} {package.sha256}\n" for package in packages)


def folder_of(section) -> Path:
    """Return the cache's folder for a section's packages, whether filled or not."""
    return cache_entry("debian", f"{section}-{digest(content(section))[:16]}")


def provide(section) -> Path:
    """Return the folder with a section's packages, fetched at the first call.

    Raises
    ------
    SetupError
        A package can't be fetched; the message names it and says what to do.
    """
    times, sections = read_lock()
    final = folder_of(section)
    with made_once(final) as partial:
        if partial is not None:
            packages = sections[section]
            require_space(
                partial, round(2 * sum(package.size for package in packages) / 1e9, 1), f"Debian packages ({section})"
            )
            take_over(packages, final.parent, partial)
            try:
                fetch(packages, times, partial, final.with_name(final.name + ".log"), f"Debian packages ({section})")
            except BaseException:  # also if interrupted: the next call takes over the complete packages
                keep_fetched(packages, partial, final.parent / FETCHED)
                raise
            remove_tree(final.parent / FETCHED)
            if section == BASE:
                write_index(packages, partial)
    return final


def check_archive() -> None:
    """Raise SetupError if packages have to be fetched and no archive is known; nothing is fetched."""
    images = [
        section
        for section in read_lock()[1]
        if not (section.startswith(("linux-", OF_STACK)) or section in (SELFTESTS, STACKS))
    ]
    if not all(folder_of(section).exists() for section in images) and not os.environ.get("SAWTOOTH_SNAPSHOT"):
        debian.find_mirror()


def take_over(packages, cache, folder) -> None:
    """Link those packages that the cache already has, from another version of the lock, into a folder."""
    for package in packages:
        for other in cache.glob(f"[!.]*/{package.file}"):
            if digest_of(other) == package.sha256:
                os.link(other, folder / package.file)
                break


def keep_fetched(packages, folder, kept) -> None:
    """Move a folder's packages that match the lock into ``kept``, the cache's folder for fetched packages."""
    kept.mkdir(exist_ok=True)
    missing = lacking(packages, folder)
    for package in packages:
        if package not in missing:
            (folder / package.file).replace(kept / package.file)


def lacking(packages, folder) -> list[Package]:
    """Return the packages missing from a folder; files that don't match the lock are deleted."""
    missing = []
    for package in packages:
        file = folder / package.file
        if file.is_file() and digest_of(file) != package.sha256:
            file.unlink()
        if not file.is_file():
            missing.append(package)
    return missing


def fetch(packages, times, folder, log, title) -> None:
    """Fetch the packages that a folder doesn't have yet, each from the first archive that has it."""
    tried, is_reached = [], True
    for find_archive in (
        debian.find_mirror,
        *(functools.partial(debian.find_snapshot, time) for time in times.split()),
    ):
        missing = lacking(packages, folder)
        if not missing:
            return
        try:
            archive = find_archive()
        except SetupError as error:
            tried.append(str(error).split(":")[0])
            continue
        files = [(f"{archive}/{package.path}", folder / package.file, package.sha256) for package in missing]
        lost = debian.download(files, log, f"{title} from {archive}")
        tried.append(f"{archive}: {lost}" if lost else f"{archive} doesn't have it")
        is_reached = is_reached and not lost
    missing = lacking(packages, folder)
    if missing:
        first = missing[0]
        more = f" and {len(missing) - 1} more" if missing[1:] else ""
        raise SetupError(
            f"{LOCK} names {first.name} {first.version}{more}, which can't be fetched ({'; '.join(tried)}): "
            + ("" if is_reached else "call again when there is a network (what was fetched is kept), ")
            + "bring a bundle from a machine that has the images (`make bundle`), take the images that came with published "
            "results (`make SAWTOOTH_IMAGES=<their .images.tar>`), or write the lock again (`make lock`), which "
            "means newer packages, so another image and runs with other bytes."
        )


def write_index(packages, folder) -> None:
    """Turn a folder of packages into an archive for debootstrap; it is unsigned, because its content was verified."""
    stanzas = []
    for package in packages:
        control = control_of(folder / package.file).strip()
        stanzas.append(f"{control}\nFilename: {package.file}\nSize: {package.size}\nSHA256: {package.sha256}\n\n")
    index = "".join(stanzas).encode()
    place = "main/binary-amd64/Packages"
    dist = folder / "dists" / RELEASE
    (dist / place).parent.mkdir(parents=True)
    (dist / place).write_bytes(index)
    (dist / "Release").write_text(
        f"Suite: stable\nCodename: {RELEASE}\nArchitectures: amd64\nComponents: main\nSHA256:\n"
        f" {hashlib.sha256(index).hexdigest()} {len(index)} {place}\n"
    )


def control_of(package) -> str:
    """Return the text of a package's control file."""
    with opened(package, "control") as files:
        return files.extractfile("./control").read().decode()


@contextlib.contextmanager
def opened(package, part) -> Iterator[tarfile.TarFile]:
    """Open the ``control`` or ``data`` part of a Debian package (deb(5): a tar archive inside an ar archive).

    Raises SetupError if the file has no such part.
    """
    with open(package, "rb") as archive:
        archive.seek(8)
        while header := archive.read(60):
            size = int(header[48:58])
            member = archive.read(size + size % 2)[:size]
            if header.startswith(f"{part}.tar".encode()):
                with tarfile.open(fileobj=io.BytesIO(member)) as files:
                    yield files
                return
    raise SetupError(f"{package} is not a Debian package: it has no {part} part.")
