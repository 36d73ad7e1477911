"""The mirror is the machine's own, or the one that a variable names."""

import hashlib
import subprocess

import pytest

LISTING = """\
http://packages.example/debian|Docker|Docker CE
http://mirror.example/debian-security/|Debian|Debian-Security
http://mirror.example/debian/|Debian|Debian
http://other.example/debian/|Debian|Debian
"""


@pytest.fixture
def repository(tmp_path):
    """Make a repository (only its lists) with a given origin, and an apt configured to use it."""

    def make(origin):
        dist = tmp_path / "mirror" / "dists" / "bookworm"
        (dist / "main" / "binary-amd64").mkdir(parents=True)
        packages = b"Package: one\nVersion: 1\nArchitecture: amd64\nFilename: one.deb\nSize: 1\nSHA256: 0\n\n"
        (dist / "main" / "binary-amd64" / "Packages").write_bytes(packages)
        (dist / "Release").write_text(
            f"Origin: {origin}\nLabel: {origin}\nSuite: stable\nCodename: bookworm\nDate: Thu, 01 Jan 2026 00:00:00 UTC\n"
            "Architectures: amd64\nComponents: main\nSHA256:\n"
            f" {hashlib.sha256(packages).hexdigest()} {len(packages)} main/binary-amd64/Packages\n"
        )
        (tmp_path / "sources.list").write_text(f"deb [trusted=yes] file://{tmp_path}/mirror bookworm main\n")
        config = tmp_path / "apt.conf"
        config.write_text(
            f'Dir::Etc::SourceList "{tmp_path}/sources.list";\nDir::Etc::SourceParts "/dev/null";\n'
            f'Dir::State "{tmp_path}/state";\nDir::Cache "{tmp_path}/cache";\nAPT::Architecture "amd64";\n'
        )
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "APT_CONFIG": str(config)}

    return make


def test_variable_comes_first():
    import debian

    assert debian.find_mirror({"SAWTOOTH_MIRROR": "http://named.example/debian/"}) == "http://named.example/debian"


def test_first_of_debian_but_not_its_security():
    import debian

    assert debian.choose_mirror(LISTING) == "http://mirror.example/debian"
    assert debian.choose_mirror(LISTING.splitlines()[0]) is None


def test_machine_whose_lists_were_never_fetched(repository, tmp_path):
    import debian

    environ = repository("Debian")
    assert debian.find_mirror(environ) == f"file:{tmp_path}/mirror"
    assert not (tmp_path / "state").exists()  # asked without touching the machine's own lists


def test_machine_of_another_distribution(repository):
    import debian
    from progress import SetupError

    with pytest.raises(SetupError, match="SAWTOOTH_MIRROR"):
        debian.find_mirror(repository("Ubuntu"))


def test_no_file_names_a_host(root):
    """Packages come from where the machine gets its own."""
    files = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "envs", "setup", "Makefile", ".ci"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    hosts = ("deb.debian.org", "pypi.org", "pythonhosted", "snapshot.debian", "docker.io")
    assert files
    assert [name for name in files for host in hosts if host in (root / name).read_text()] == []


def test_machine_without_apt_takes_debootstraps_own(tmp_path):
    import debian

    program = tmp_path / "debootstrap"
    program.write_text('#!/bin/sh\nKEYRING=""\nDEF_MIRROR="http://archive.example/debian"\n')
    program.chmod(0o755)
    assert debian.find_mirror({"PATH": str(tmp_path)}) == "http://archive.example/debian"
    program.write_text('#!/bin/sh\nDEF_MIRROR="http://archive.example/ubuntu"\n')
    assert debian.mirror_of_debootstrap({"PATH": str(tmp_path)}) is None
