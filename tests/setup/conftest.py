"""A shell for set-up's programs."""

import os
import subprocess

import pytest


@pytest.fixture
def checkout(root, tmp_path):
    """A copy of the files that set-up reads, without anything made by it."""
    copy = tmp_path / "checkout"
    names = subprocess.run(
        [
            "git",
            "ls-files",
            "-co",
            "--exclude-standard",
            "-z",
            "Makefile",
            "setup",
            "envs",
            "workflow/scripts/session",
            "workflow/scripts/study_files",
            "workflow/scripts/wording",
            "workflow/testbed",
        ],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    for name in filter(None, names):
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((root / name).read_bytes())
    return copy


@pytest.fixture
def make_setup(checkout, tmp_path):
    """A function that runs `make setup` in the copy; its cache and apt configuration are empty."""
    (tmp_path / "apt.conf").write_text(
        f'Dir::Etc::SourceList "{tmp_path}/none";\nDir::Etc::SourceParts "{tmp_path}/none";\n'
        f'Dir::State "{tmp_path}/apt-state";\n'
    )

    def run(*arguments, **variables):
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "SAWTOOTH_CACHE": str(tmp_path / "cache"),
            "APT_CONFIG": str(tmp_path / "apt.conf"),
            **variables,
        }
        return subprocess.run(
            ["make", "setup", *arguments], cwd=checkout, env=environ, capture_output=True, text=True, timeout=120
        )

    return run
