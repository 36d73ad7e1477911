"""A bundle needs only itself: no network, no Python, no privileges, and no particular location."""

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

#: What a machine that a bundle is brought to may lack, by the beginnings of the programs' names.
LACKING = ("apptainer", "apt", "dpkg", "git", "patchelf", "pip", "python", "singularity", "squashfuse")
#: Debian's own files that name Debian's default mirror.
NAMING_THE_DEFAULT = ("usr/sbin/debootstrap", "usr/lib/dpkg/methods/apt/setup")


class Target:
    """A folder on a machine without network and Python, for an ordinary user whose home is empty."""

    def __init__(self, place):
        self.place = place
        self.programs = place / "programs"
        self.home = place / "home"
        self.user = pwd.getpwnam("nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name)
        for folder in (self.programs, self.home):
            folder.mkdir()
        for folder in ("/usr/bin", "/usr/sbin", "/bin", "/sbin"):
            for program in Path(folder).iterdir():
                link = self.programs / program.name
                if not program.name.startswith(LACKING) and not os.path.lexists(link):
                    link.symlink_to(program)
        place.chmod(0o755)
        self.own(place, self.home)

    def own(self, *paths):
        for path in paths:
            os.chown(path, self.user.pw_uid, self.user.pw_gid, follow_symlinks=False)

    def folder(self, name):
        """Make a folder that belongs to the user; return its path."""
        path = self.place / name
        path.mkdir()
        self.own(path)
        return path

    def run(self, *command, cwd, **keywords):
        """Run a command there; return the finished process, with both outputs as one text."""
        become = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        # A network namespace has no interface but its own loopback, and that is down.
        return subprocess.run(
            ["unshare", "--user", "--map-current-user", "--net", *map(str, command)], cwd=cwd, text=True, timeout=600,
            env={"PATH": str(self.programs), "HOME": str(self.home)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            **become, **keywords,
        )  # fmt: skip


@pytest.fixture(scope="module")
def archive(root, tmp_path_factory):
    """The bundle of this working tree, as if all of it were committed."""
    source = tmp_path_factory.mktemp("source")
    listing = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (root / name).exists():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, source / name)
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "--all"], [*author, "commit", "-qm", "All"]):
        subprocess.run(["git", *command], cwd=source, check=True)
    (source / ".venv").symlink_to(sys.prefix)
    done = subprocess.run([sys.executable, "setup", "bundle"], cwd=source, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = source.glob("sawtooth-*")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=source, check=True, capture_output=True, text=True).stdout
    assert made.name == f"sawtooth-{commit[:7]}.tar.gz"
    yield made, commit.strip()
    made.unlink()


@pytest.fixture(scope="module")
def target():
    """A machine to which a bundle is brought."""
    place = Path(tempfile.mkdtemp(prefix="sawtooth-test-", dir="/var/tmp"))
    try:
        yield Target(place)
    finally:
        shutil.rmtree(place)


@pytest.fixture(scope="module")
def unpacked(archive, target):
    """The bundle, unpacked and set up there."""
    with open(archive[0], "rb") as packed:
        folder = target.folder("a new place")
        done = target.run("tar", "xz", cwd=folder, stdin=packed)
    assert done.returncode == 0, done.stdout
    (folder,) = folder.iterdir()
    done = target.run("make", "setup", cwd=folder)
    assert done.returncode == 0, done.stdout
    return folder


def test_target_has_no_network_and_no_python(target):
    interfaces = target.run("cat", "/proc/net/dev", cwd=target.home).stdout.splitlines()[2:]
    assert [line.split(":")[0].strip() for line in interfaces] == ["lo"]
    for name in ("python3", "apptainer", "git", "apt-get"):
        assert shutil.which(name, path=target.programs) is None


def test_same_bytes_as_here(archive, unpacked, target, mini, root):
    """The study's documents, tables, figures and report, made without git: only the bundle knows the commit."""
    shutil.copy(root / "tests/workflow/mini.yaml", unpacked / "config/studies")
    commit = unpacked / "bundle/commit"
    commit.rename(target.place / "commit")
    try:
        done = target.run("make", "STUDY=mini", cwd=unpacked)
    finally:
        (target.place / "commit").rename(commit)
    assert done.returncode == 0, done.stdout[-4000:]
    here, there = mini.folder / "results/mini", unpacked / "results/mini"
    compared = [
        path.relative_to(here) for part in ("runs", "tidy", "analysis", "figures", "report.html", "details.html")
        for path in ((here / part).rglob("*") if (here / part).is_dir() else [here / part]) if path.is_file()
    ]  # fmt: skip
    assert sum(path.parts[0] == "runs" for path in compared) == 8
    assert [path for path in compared if (there / path).read_bytes() != (here / path).read_bytes()] == []
    done = target.run("make", "STUDY=mini", "ARGS=--forcerun tidy_runs --until tidy_runs", cwd=unpacked)
    assert done.returncode == 0, done.stdout[-4000:]
    made_by = json.loads((there / "tidy/provenance.json").read_text())["workflow"]
    assert (made_by["commit"], made_by["dirty"]) == (archive[1], False)


def test_everything_is_in_the_folder(unpacked, target):
    assert [path.name for path in target.home.iterdir() if path.name not in (".apptainer", ".cache")] == []
    links = list((unpacked / "envs").glob("*.sif")) + [unpacked / ".venv/bin/python3"]
    assert len(links) == 4 and all(unpacked in path.resolve().parents for path in links)


def test_nothing_of_this_machine_is_in_it(unpacked, archive, root):
    """Neither its cache, nor its checkout, nor its mirror unless Debian's own files name it."""
    import debian

    cache = (root / "envs/testbed.sif").resolve().parents[2]
    traces = [str(cache), f"{root}/envs", str(archive[0].parent), debian.find_mirror()]
    searched = [unpacked / "bundle" / name for name in ("images", "toolbox", "python3", "commit")]
    patterns = [option for trace in traces for option in ("-e", trace)]
    files = subprocess.run(["grep", "-rlaF", *patterns, *searched], capture_output=True, text=True).stdout.splitlines()
    assert [path for path in files if not path.endswith(NAMING_THE_DEFAULT)] == []


def test_changed_image_is_noticed(unpacked, target):
    """This includes a change of one byte that keeps the size."""
    (kernel,) = unpacked.glob("bundle/images/testbed-*/root/usr/lib/sawtooth/linux")
    content = kernel.read_bytes()
    (unpacked / "bundle/checked").unlink()
    try:
        kernel.write_bytes(content[:1000] + bytes([content[1000] ^ 1]) + content[1001:])
        done = target.run("make", "setup", cwd=unpacked)
    finally:
        kernel.write_bytes(content)
    assert done.returncode != 0
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("sawtooth: "))
    assert f"({kernel.relative_to(unpacked)} is not what was packed): unpack the archive again" in line


def test_archive_that_was_cut_short_is_noticed(archive, target):
    """It is reported in one sentence, even if the cut went through the bundle's own Python."""
    folder = target.folder("cut")
    with open(archive[0], "rb") as packed:
        head = packed.read(archive[0].stat().st_size // 2)
    (folder / "cut.tar.gz").write_bytes(head)
    assert target.run("tar", "xzf", "cut.tar.gz", cwd=folder).returncode != 0
    (unpacked,) = folder.glob("sawtooth-*")
    done = target.run("make", "setup", cwd=unpacked)
    lines = [line for line in done.stdout.splitlines() if line.startswith("sawtooth: ")]
    assert done.returncode != 0 and len(lines) == 1
    assert "this bundle is damaged (its end is missing)" in lines[0]
    assert not (unpacked / ".venv").exists()


def test_tests_are_refused(unpacked, target):
    done = target.run("make", "test", cwd=unpacked)
    assert done.returncode != 0 and "a bundle has no tests" in done.stdout
