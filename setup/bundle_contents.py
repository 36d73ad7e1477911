"""List the contents of a bundle (the workflow's files, images, packages and tools) without data that identify this machine."""

import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

import toolbox
import unpacked
from debian import KEYRING
from progress import SetupError, run_quietly

#: Parts of the repository that a bundle omits; the tests can't pass without a network.
NOT_PACKED = (".ci/", "tests/")
# Apptainer's notes on a build (date, mirror and folders) and apt's sources. No job reads them.
LEFT_OUT = (".singularity.d/Singularity", ".singularity.d/labels.json", ".singularity.d/bootstrap_history", "etc/apt")
# Folders that are mounted from the building machine during a build.
BOUND = ("home/", "tmp/", "var/tmp/")
# Files from the building machine, which are packed as empty files. Apptainer mounts them from the machine on which a job runs.
EMPTIED = ("etc/hostname", "etc/hosts", "etc/machine-id", "etc/resolv.conf", "etc/subuid", "etc/subgid")
# Files that may list users of the building machine. The ids of the system's own accounts are below `SYSTEM_IDS`.
ACCOUNTS = ("etc/passwd", "etc/group")
SYSTEM_IDS = 1000
NOBODY = "65534"
# Files of the tools that aren't needed: manuals, translations, and network plugins (containers here have no network or the machine's).
UNUSED_TOOLS = (
    "usr/lib/cni",
    "usr/share/bug",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
)


@dataclass(frozen=True)
class Entry:
    """A member of the archive.

    Attributes
    ----------
    name : str
        Path, relative to the bundle's folder.
    mode : int
        File type and permissions, as in the ``st_mode`` of os.lstat.
    source : pathlib.Path or bytes or str or None
        Path (pathlib.Path) or content (bytes) of a file, target of a link (str), or None for a directory.
    date : int or None
        Modification time in seconds since 1970, or None for the date of the commit.
    """

    name: str
    mode: int
    source: object
    date: int | None = None

    @property
    def size(self) -> int:
        """Size of the content in bytes; 0 for directories and links."""
        if isinstance(self.source, Path):
            return self.source.stat().st_size
        return len(self.source) if isinstance(self.source, bytes) else 0


def git(*arguments) -> str:
    """Return the output of a git command in this checkout."""
    try:
        return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise SetupError("git is needed to make a bundle: install it (apt-get install git).")
    except subprocess.CalledProcessError as error:
        raise SetupError(f"a bundle can be made only in a git checkout: {error.stderr.strip()}")


def workflow_entries() -> list[Entry]:
    """Return entries for the files that git tracks, with the contents that they have in the working tree."""
    names = git("ls-files", "-z").split("\0")
    entries = []
    for name in sorted(filter(None, names)):
        file = Path(name)
        if name.startswith(NOT_PACKED) or not os.path.lexists(file):
            continue
        executable = file.stat().st_mode & stat.S_IXUSR
        entries.append(Entry(name, stat.S_IFREG | (0o755 if executable else 0o644), file))
    return entries


def image_entries(folder) -> list[Entry]:
    """Return entries for all files, links and folders of an image, without data that identify the machine that built the image."""
    below = f"{unpacked.IMAGES}/{folder.name}"
    entries = [Entry(below + "/image.json", stat.S_IFREG | 0o644, folder / "image.json")]
    for entry in tree_entries(folder / "root", below + "/root", LEFT_OUT):
        path = entry.name.removeprefix(below + "/root/")
        if path.startswith(BOUND):
            continue
        if path.rstrip("-") in EMPTIED and stat.S_ISREG(entry.mode):
            entry = Entry(entry.name, entry.mode, b"")
        elif path.rstrip("-") in ACCOUNTS:
            entry = Entry(entry.name, entry.mode, system_accounts(entry.source.read_bytes()))
        elif isinstance(entry.source, Path):
            # Python compiles a file again if the file's date differs from the date recorded at compilation. In the guest, another
            # compilation is enough to change a run.
            entry = Entry(entry.name, entry.mode, entry.source, int(entry.source.stat().st_mtime))
        entries.append(entry)
    return entries


def system_accounts(table) -> bytes:
    """Return only the lines for system accounts; ``table`` is the content of /etc/passwd or /etc/group."""

    def is_of_system(line):
        number = line.split(":")[2]
        return number == NOBODY or int(number) < SYSTEM_IDS

    return "".join(line for line in table.decode().splitlines(keepends=True) if is_of_system(line)).encode()


def toolbox_entries(workdir, venv) -> list[Entry]:
    """Unpack Apptainer's unmodified packages into a working folder, and return entries for the unpacked files."""
    tools = toolbox.private_toolbox(venv)
    for package in sorted((tools / toolbox.ARCHIVES).glob("*.deb")):
        run_quietly(["dpkg-deb", "-x", package, workdir])
    keyring = KEYRING.relative_to("/")
    (workdir / keyring).parent.mkdir(parents=True, exist_ok=True)
    (workdir / keyring).write_bytes((tools / keyring).read_bytes())
    return tree_entries(workdir, str(unpacked.TOOLBOX), UNUSED_TOOLS)


def tree_entries(root, below, left_out) -> list[Entry]:
    """Return entries for a folder and everything in it, sorted by name.

    Parameters
    ----------
    root : pathlib.Path
        Folder to list.
    below : str
        Path of this folder in the bundle.
    left_out : container of str
        Paths, relative to the folder, that are omitted together with everything below them.
    """
    entries = [Entry(below, os.lstat(root).st_mode, None)]

    def walk(folder, relative):
        for item in sorted(os.scandir(folder), key=lambda item: os.fsencode(item.name)):
            path = relative + item.name
            mode = item.stat(follow_symlinks=False).st_mode
            if path in left_out:
                continue
            if stat.S_ISLNK(mode):
                entries.append(Entry(f"{below}/{path}", mode, os.readlink(item.path)))
            elif stat.S_ISDIR(mode):
                entries.append(Entry(f"{below}/{path}", mode, None))
                walk(item.path, path + "/")
            elif stat.S_ISREG(mode):
                entries.append(Entry(f"{below}/{path}", mode, Path(item.path)))
            else:
                raise SetupError(f"{item.path} is neither file, directory nor link, and can't go into a bundle.")

    walk(root, "")
    return entries
