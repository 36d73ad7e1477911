"""Debian packages without touching the system: the machine's mirror, an apt of our own."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from progress import SetupError, run_logged

# The only release with a current Apptainer. A package's libraries come along with it, so the
# release that this machine runs doesn't matter.
SUITE = "sid"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
NO_MIRROR = (
    "no Debian mirror was found in this machine's apt configuration: "
    "name one, `make SAWTOOTH_MIRROR=<URL of a Debian mirror>`."
)


def find_mirror(environ=os.environ) -> str:
    """Return the URL of the Debian mirror: SAWTOOTH_MIRROR, or the first that apt is configured with.

    Raises
    ------
    SetupError
        Neither exists.
    """
    if environ.get("SAWTOOTH_MIRROR"):
        return environ["SAWTOOTH_MIRROR"].rstrip("/")
    if not shutil.which("apt-get", path=environ.get("PATH")):
        raise SetupError(NO_MIRROR)
    mirror = choose_mirror(index_targets(environ))
    if mirror is None:
        # Who is behind a source stands in lists that this machine may not have fetched yet.
        with tempfile.TemporaryDirectory() as folder:
            options = ["-c", str(private_apt(Path(folder)))]
            subprocess.run(["apt-get", *options, "-q", "update"], capture_output=True, env=environ)
            mirror = choose_mirror(index_targets(environ, options))
    if mirror is None:
        raise SetupError(NO_MIRROR)
    return mirror


def index_targets(environ, options=()) -> str:
    """List apt's package lists, a line ``uri|origin|label`` each."""
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
    """Choose the first URI of origin and label Debian (not Debian-Security), None if there is none."""
    for line in listing.splitlines():
        uri, origin, label = line.rsplit("|", 2)
        if origin == label == "Debian":
            return uri.rstrip("/")
    return None


def private_apt(folder, source=None) -> Path:
    """Write the configuration of an apt that keeps to one directory, so it works for every user.

    Of the system's configuration its way to the network stays (proxy, certificates), and its
    sources unless `source` names another; its hooks and pins don't.

    Returns
    -------
    pathlib.Path
        The file for apt-get's option -c.
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
    """Return a keyring with Debian's keys: the machine's, else that of the package that carries it."""
    if KEYRING.is_file():
        return KEYRING
    subprocess.run(["apt-get", "-qq", "download", "debian-archive-keyring"], cwd=folder, capture_output=True)
    for package in Path(folder).glob("debian-archive-keyring_*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        return Path(folder) / KEYRING.relative_to("/")
    raise SetupError("Debian's signing keys are missing: install the package debian-archive-keyring.")


def unpack_packages(packages, folder, log, title, keep=None) -> None:
    """Fetch packages and all they depend on from Debian's `SUITE`; unpack them, installing nothing.

    Parameters
    ----------
    packages : sequence of str
    folder : pathlib.Path
        Gets the packages' files, and the keyring that they were verified with.
    log : pathlib.Path
    title : str
        What the packages are, for the user.
    keep : pathlib.Path, optional
        Gets the packages themselves as well.

    Raises
    ------
    SetupError
        No apt-get, no network, no such mirror or package, or a wrong signature; names the log.
    """
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise SetupError(f"{title} can't be fetched without apt-get: install it with this machine's package manager.")
    mirror = find_mirror()
    workdir = folder / "apt"
    workdir.mkdir()
    keyring = find_keyring(workdir)
    config = private_apt(workdir, f"deb [arch=amd64 target=Packages signed-by={keyring}] {mirror} {SUITE} main")
    apt = ["apt-get", "-c", str(config), "-q", "-y"]
    try:
        run_logged([*apt, "update"], log, f"package lists of Debian {SUITE}")
        run_logged([*apt, "--download-only", "install", *packages], log, title)
    except SetupError as error:
        raise SetupError(f"{title} can't be fetched from {mirror} (no network, or no Debian mirror there?): {error}")
    for package in sorted((workdir / "cache/archives").glob("*.deb")):
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    if keep:
        (workdir / "cache/archives").rename(keep)
    (folder / KEYRING.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(keyring, folder / KEYRING.relative_to("/"))
    shutil.rmtree(workdir)
