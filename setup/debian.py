"""Fetch Debian packages from a mirror or a snapshot archive, with a separate apt configuration that leaves the system unchanged."""

import http.client
import os
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from progress import SetupError, errors_in, run_fetching, run_logged, run_quietly, say

# The only release with a current Apptainer. Packages are fetched with all their libraries, so the machine's own release doesn't matter.
SUITE = "sid"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
NO_MIRROR = (
    "no Debian mirror was found in this machine's apt configuration or in debootstrap: "
    "name one, `make SAWTOOTH_MIRROR=<URL of a Debian mirror>`."
)
NO_SNAPSHOT = (
    "this machine's apt doesn't know a snapshot archive of Debian: "
    "name one, `make SAWTOOTH_SNAPSHOT=<URL with @SNAPSHOTID@ for the time>`."
)
#: The archive that debootstrap uses by default.
DEFAULT_MIRROR = re.compile(r'^DEF_MIRROR="(\w+://[^"]+/debian)/?"$', re.M)
APT_HELPER = "/usr/lib/apt/apt-helper"
#: Beginning of apt's errors about a file, and text in such an error if the archive responded but doesn't contain the expected file.
UNFETCHED = re.compile(r"Failed to fetch \S+ +")
ANSWERED = re.compile(r"\b404\b|not found|No such file|mismatch|unexpected size", re.I)
#: apt's option (since 2.9) whose value is the URL of Debian's snapshot archive.
SNAPSHOT_OPTION = re.compile(r'^Acquire::Snapshots::URI::(?:Override::)?Origin::Debian "(.+)";$', re.M)


def find_mirror(environ=os.environ) -> str:
    """Return the URL of a Debian mirror from SAWTOOTH_MIRROR, apt's configuration or debootstrap, in this order.

    Raises
    ------
    SetupError
        If none of them names a mirror.
    """
    if environ.get("SAWTOOTH_MIRROR"):
        return environ["SAWTOOTH_MIRROR"].rstrip("/")
    mirror = None
    if shutil.which("apt-get", path=environ.get("PATH")):
        mirror = choose_mirror(index_targets(environ))
        if mirror is None:
            # The origin of a package source is stated in its package lists, which this machine may not have fetched yet.
            with tempfile.TemporaryDirectory() as folder:
                options = ["-c", str(private_apt(Path(folder)))]
                subprocess.run(["apt-get", *options, "-q", "update"], capture_output=True, env=environ)
                mirror = choose_mirror(index_targets(environ, options))
    mirror = mirror or mirror_of_debootstrap(environ)
    if mirror is None:
        raise SetupError(NO_MIRROR)
    return mirror


def mirror_of_debootstrap(environ) -> str | None:
    """Return the URL of debootstrap's default archive, or None if debootstrap is neither installed nor available as a package."""
    path = os.pathsep.join([environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    with tempfile.TemporaryDirectory() as folder:
        program = shutil.which("debootstrap", path=path)
        if program is None and shutil.which("apt-get", path=path):
            program = file_of_package("debootstrap", Path("/usr/sbin/debootstrap"), Path(folder), environ)
        match = program and DEFAULT_MIRROR.search(Path(program).read_text())
    return match[1] if match else None


def file_of_package(package, path, folder, environ=os.environ) -> Path | None:
    """Fetch a package with this machine's apt, and unpack it in a folder.

    Return the path to the package's file ``path`` in this folder, or None if apt can't fetch the package.
    """
    subprocess.run(["apt-get", "-qq", "download", package], cwd=folder, capture_output=True, env=environ)
    for archive in folder.glob(f"{package}_*.deb"):
        run_quietly(["dpkg-deb", "-x", archive, folder])
        return folder / path.relative_to("/")
    return None


def find_snapshot(time, environ=os.environ) -> str:
    """Return the URL of a snapshot of Debian's archive, from SAWTOOTH_SNAPSHOT or from apt's configuration.

    Parameters
    ----------
    time : str
        Time of the snapshot, such as ``20261030T140801Z``.

    Raises
    ------
    SetupError
        If neither this machine's apt nor Debian's newest apt names a snapshot archive.
    """
    template = environ.get("SAWTOOTH_SNAPSHOT") or snapshot_option(["apt-config"]) or snapshot_of_newer_apt()
    if not template:
        raise SetupError(NO_SNAPSHOT)
    if "@SNAPSHOTID@" not in template:
        template = template.rstrip("/") + "/@SNAPSHOTID@"
    return template.replace("@SNAPSHOTID@", time).rstrip("/")


def snapshot_option(apt_config) -> str | None:
    """Return the URL of the snapshot archive that the command ``apt_config`` reports, or None if the command reports none."""
    try:
        known = subprocess.run([*apt_config, "dump"], capture_output=True, text=True).stdout
    except OSError:
        return None
    match = SNAPSHOT_OPTION.search(known)
    return match and match[1]


def snapshot_of_newer_apt() -> str | None:
    """Fetch Debian's newest apt, and return the URL of the snapshot archive that this apt reports, or None if it can't be fetched."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        try:
            unpack_packages(["apt"], folder, folder / "log", "a newer apt, which knows Debian's snapshot archive")
        except SetupError:
            return None
        libraries = folder / "usr/lib/x86_64-linux-gnu"
        loader = [libraries / "ld-linux-x86-64.so.2", "--library-path", libraries]
        return snapshot_option([*loader, folder / "usr/bin/apt-config"])


def download(files, log, title) -> str | None:
    """Download files, with apt's network settings if apt is installed; files that can't be fetched are skipped.

    Parameters
    ----------
    files : list of (str, pathlib.Path, str)
        URL, target path and SHA-256 of each file. The SHA-256 is verified only if apt downloads the file.
    log : pathlib.Path
        apt's log file.
    title : str
        Description of the files for the user.

    Returns
    -------
    str or None
        Reason why the archive couldn't be reached, or None if it responded.
    """
    if Path(APT_HELPER).exists():
        command = [APT_HELPER, "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=1", "download-file"]
        for url, target, sha256 in files:
            # apt's method `file` would make a link instead of a copy.
            command += [re.sub("^file:", "copy:", url), str(target), f"SHA256:{sha256}"]
        try:
            run_logged(command, log, title)
        except SetupError:
            lost = [error for error in errors_in(log) if UNFETCHED.match(error) and not ANSWERED.search(error)]
            return UNFETCHED.sub("", lost[0]) if lost else None
        return None
    say(f"{title}: {len(files)} files")
    for url, target, _ in files:
        try:
            with urllib.request.urlopen(url, timeout=60) as source, open(target, "wb") as content:
                shutil.copyfileobj(source, content)
        except (OSError, http.client.HTTPException) as error:
            target.unlink(missing_ok=True)
            say(f"{url}: {error}")
            if not isinstance(error, urllib.error.HTTPError):
                reason = f"{getattr(error, 'reason', error)}"
                return None if ANSWERED.search(reason) else reason
    return None


def index_targets(environ, options=()) -> str:
    """Return a line ``uri|origin|label`` for each of apt's package lists."""
    command = [
        "apt-get",
        *options,
        "indextargets",
        "--format",
        "$(REPO_URI)|$(ORIGIN)|$(LABEL)",
        "Created-By: Packages",
    ]
    return subprocess.run(command, capture_output=True, text=True, env=environ).stdout


def choose_mirror(listing) -> str | None:
    """Return the first URI in the output of `index_targets` whose origin and label are Debian (not Debian-Security), or None."""
    for line in listing.splitlines():
        uri, origin, label = line.rsplit("|", 2)
        if origin == label == "Debian":
            return uri.rstrip("/")
    return None


def private_apt(folder, source=None) -> Path:
    """Write a configuration that makes apt keep all its files in one folder, so that any user can run apt.

    The system's network settings (proxy, certificates) still apply, but its hooks and pins don't. The system's package sources apply
    unless ``source`` is given.

    Returns
    -------
    pathlib.Path
        Configuration file for apt-get's option -c.
    """
    for name in ("state/lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    lines = [
        "#clear APT::Update;",
        "#clear DPkg;",
        "#clear APT::Default-Release;",
        f'Dir::State "{folder}/state";',
        f'Dir::State::status "{folder}/status";',
        f'Dir::Cache "{folder}/cache";',
        'Dir::Etc::Preferences "/dev/null";',
        'Dir::Etc::PreferencesParts "/dev/null";',
        'Acquire::Languages "none";',
        'APT::Architecture "amd64";',
        'APT::Architectures { "amd64"; };',
        'APT::Install-Recommends "false";',
        'APT::Update::Error-Mode "any";',
        'APT::Sandbox::User "root";',  # the user _apt can't read a user's directories
    ]
    if source:
        (folder / "sources.list").write_text(source + "\n")
        lines += [f'Dir::Etc::SourceList "{folder}/sources.list";', 'Dir::Etc::SourceParts "/dev/null";']
    config = folder / "apt.conf"
    config.write_text("\n".join(lines) + "\n")
    return config


def find_keyring(folder) -> Path:
    """Return the path to a keyring with Debian's keys.

    If no such keyring is installed, the package debian-archive-keyring is unpacked in ``folder``.
    """
    if KEYRING.is_file():
        return KEYRING
    keyring = file_of_package("debian-archive-keyring", KEYRING, folder)
    if keyring is None:
        raise SetupError("Debian's signing keys are missing: install the package debian-archive-keyring.")
    return keyring


def unpack_packages(packages, folder, log, title, keep=None) -> None:
    """Fetch packages and their dependencies from Debian's `SUITE`, and unpack them without installing anything.

    Parameters
    ----------
    packages : sequence of str
        Names of the packages.
    folder : pathlib.Path
        Folder for the unpacked files, and for the keyring with which the packages were verified.
    log : pathlib.Path
        apt's log file.
    title : str
        Description of the packages for the user.
    keep : pathlib.Path, optional
        New folder in which the packages themselves are kept; by default, they are deleted.

    Raises
    ------
    SetupError
        If apt-get, the network, the mirror or a package is missing, or if a signature is wrong. If a command failed, the message names the
        command's log.
    """
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise SetupError(f"{title} can't be fetched without apt-get: install it with this machine's package manager.")
    mirror = find_mirror()
    workdir = folder / "apt"
    workdir.mkdir()
    keyring = find_keyring(workdir)
    config = private_apt(workdir, f"deb [arch=amd64 target=Packages signed-by={keyring}] {mirror} {SUITE} main")
    apt = ["apt-get", "-c", str(config), "-q", "-y"]
    source = f"Debian mirror at {mirror}"
    run_fetching([*apt, "update"], log, f"package lists of Debian {SUITE}", title, source)
    run_fetching([*apt, "--download-only", "install", *packages], log, title, title, source)
    for package in sorted((workdir / "cache/archives").glob("*.deb")):
        run_quietly(["dpkg-deb", "-x", package, folder])
    if keep:
        (workdir / "cache/archives").rename(keep)
    (folder / KEYRING.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(keyring, folder / KEYRING.relative_to("/"))
    shutil.rmtree(workdir)
