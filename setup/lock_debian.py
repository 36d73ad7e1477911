"""Lock the packages in envs/debian.in and all their dependencies at the mirror's current versions (`make lock`)."""

import re
import subprocess
import tempfile
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import debian
from environment import LOG
from locked_packages import BASE, LOCK, RELEASE, Package, is_kernel_source, write_lock
from progress import SetupError, run_fetching

WISHES = Path("envs/debian.in")
SUITES = (RELEASE, "sid", "bookworm")
#: apt's pins, which ensure that a package comes from another release only if debian.in names that release.
PINS = "\n".join(f"Package: *\nPin: release n={suite}\nPin-Priority: 50\n" for suite in SUITES[1:])
#: The entry in debian.in that stands for the newest kernel source.
NEWEST_KERNEL = "linux-source/sid"
KERNEL_SOURCE = re.compile(r"linux-source-(\d+)\.(\d+)")
OLDEST_KERNEL = (6, 16)
#: Packages that Apptainer tells debootstrap to add to a root file system, and packages that it tells debootstrap to omit.
ASKED, LEFT_OUT = ("apt",), {"openssl", "udev", "debconf-i18n", "e2fsprogs"}
#: Maximum delay until the snapshot archive has recorded a state of Debian's archive, where a replaced package stays for at least a day.
TAKEN_UP = timedelta(hours=6)


def write_debian_lock(wishes=WISHES, lock=LOCK) -> None:
    """Resolve envs/debian.in and write envs/debian.lock.

    Raises
    ------
    SetupError
        If apt-get, the mirror or a package is missing.
    """
    mirror = debian.find_mirror()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        keyring = debian.find_keyring(folder)
        sources = (f"deb [arch=amd64 target=Packages signed-by={keyring}] {mirror} {suite} main" for suite in SUITES)
        config = debian.private_apt(folder, "\n".join(sources))
        (folder / "pins").write_text(PINS)
        with config.open("a") as text:
            # The mirror may be a snapshot archive, whose lists have expired. Signatures are still checked.
            text.write(f'Dir::Etc::Preferences "{folder}/pins";\nAcquire::Check-Valid-Until "false";\n')
        title, source = f"package lists of {mirror}", f"Debian mirror at {mirror}"
        run_fetching(["apt-get", "-c", str(config), "-q", "update"], LOG, title, "the package lists", source)
        sections = read_wishes(wishes)
        locked = {}
        for section, wished in sections.items():
            if is_kernel_source(section):  # kernel sources are unpacked, not installed
                wished = [newest_kernel(config) if name == NEWEST_KERNEL else name for name in wished]
                locked[section] = describe(config, wished)
            elif section == BASE:
                locked[section] = describe(config, resolve(config, [*required(config), *ASKED, *wished]))
                # The other images are based on these packages.
                (folder / "status").write_text(installed(config, locked[section]))
            else:
                locked[section] = describe(config, resolve(config, wished))
        write_lock(archive_time(folder), locked, lock)


def read_wishes(wishes) -> dict[str, list[str]]:
    """Return the packages that a file in the format of envs/debian.in lists, by section."""
    sections = {}
    for line in wishes.read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), [])
        elif line.strip() and not line.startswith("#"):
            section.append(line.strip())
    return sections


def ask(*command) -> str:
    """Return the output of an apt command; if the command fails, raise SetupError with the last line of the output."""
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode:
        lines = (answer.stderr.strip() or answer.stdout.strip()).splitlines()
        raise SetupError(f"{WISHES} can't be resolved: {lines[-1] if lines else 'apt gives no reason'}.")
    return answer.stdout


def newest_kernel(config) -> str:
    """Return the name of the package with the newest kernel source on the mirror."""
    packages = ask("apt-cache", "-c", str(config), "pkgnames", "linux-source-").split()
    versions = [tuple(map(int, match.groups())) for match in map(KERNEL_SOURCE.fullmatch, packages) if match]
    if max(versions, default=(0, 0)) < OLDEST_KERNEL:
        raise SetupError("the guest needs Linux 6.16 or newer, and the mirror has no source of it.")
    return "linux-source-{}.{}".format(*max(versions))


def required(config) -> list[str]:
    """Return the packages that debootstrap installs in its minimal variant (Debian's required packages), except `LEFT_OUT`."""
    stanzas = ask("apt-cache", "-c", str(config), "dumpavail").split("\n\n")
    listed = [stanza for stanza in stanzas if "\nPriority: required\n" in stanza]
    return sorted({field(stanza, "Package") for stanza in listed} - LEFT_OUT)


def resolve(config, wished) -> list[str]:
    """Return, as ``name=version``, the packages that apt would install for the given ones, including missing dependencies."""
    plan = ask("apt-get", "-c", str(config), "--simulate", "--no-install-recommends", "install", *wished)
    return [f"{name}={version}" for name, version in re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+) ", plan, re.M)]


def stanzas_of(config, packages) -> list[str]:
    """Return the stanzas of the given packages in the package lists, without duplicates, sorted by name and version."""
    stanzas = ask("apt-cache", "-c", str(config), "show", *packages).split("\n\n")
    of_packages = {
        (field(stanza, "Package"), field(stanza, "Version")): stanza.strip() for stanza in stanzas if stanza.strip()
    }
    return [of_packages[key] for key in sorted(of_packages)]


def describe(config, packages) -> list[Package]:
    """Return the lock file's entries for the given packages."""
    names = ("Package", "Version", "Architecture", "Size", "SHA256", "Filename")
    described = []
    for stanza in stanzas_of(config, packages):
        name, version, architecture, size, sha256, path = (field(stanza, each) for each in names)
        described.append(Package(name, version, architecture, int(size), sha256, path))
    return described


def installed(config, packages) -> str:
    """Return the content of dpkg's status file for a system on which the given packages are installed."""
    stanzas = stanzas_of(config, [f"{package.name}={package.version}" for package in packages])
    return "".join(f"{stanza}\nStatus: install ok installed\n\n" for stanza in stanzas)


def field(stanza, name) -> str:
    """Return the value of a field in a package's stanza."""
    return re.search(rf"^{name}: (.*)$", stanza, re.M)[1]


def archive_time(folder) -> str:
    """Return a time, such as ``20261030T140801Z``, at which the snapshot archive contains all listed packages."""
    releases = (folder / "state/lists").glob("*Release")
    dates = [parsedate_to_datetime(field(release.read_text(), "Date")) for release in releases]
    return (max(dates) + TAKEN_UP).astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
