"""The workflow environment .venv: Python packages exactly as locked."""

import importlib.util
import sys
from pathlib import Path

import debian
from cache import cache_dir, digest, made_once, require_space
from progress import SetupError, run_logged, say

VENV = Path(".venv")
LOCK = Path("envs/workflow.lock")
LOG = Path(".venv.log")


def environment_key(lock, venv):
    """Key of the environment: its packages, its Python, its place (programs in it name their own path)."""
    return digest(lock, sys.version, sys.prefix, str(venv.absolute()))


def make_environment(venv=VENV, lock=LOCK):
    """Make or renew the environment unless it is what the lock file says.

    Raises
    ------
    SetupError
        No network, no space, or a package that is not what the lock file says.
    """
    key = environment_key(lock, venv)
    stamp = venv / ".sawtooth-key"
    if stamp.is_file() and stamp.read_text() == key:
        return
    require_space(Path.cwd(), 1, "the workflow environment .venv")
    options = ["--quiet", "--require-hashes", "--requirement", str(lock), "--disable-pip-version-check", "--no-input"]
    python = str(venv / "bin/python")
    if importlib.util.find_spec("ensurepip"):
        make, pip = [], [python, "-m", "pip"]
    else:
        # Debian's python3 without python3-venv: venv itself is there, only pip is not.
        make, pip = ["--without-pip"], [python, str(fetch_pip() / "pip")]
    run_logged([sys.executable, "-m", "venv", "--clear", *make, str(venv)], LOG, "workflow environment .venv")
    try:
        run_logged([*pip, "install", *options], LOG, "its Python packages")
    except SetupError as error:
        raise SetupError(f"the Python packages of {lock} can't be installed (no network, or no package index?): {error}")
    stamp.write_text(key)


def fetch_pip():
    """Return pip's wheel, which runs as it is, from Debian's package of it; nothing is installed."""
    final = cache_dir() / "pip" / digest(debian.SUITE)[:16]
    with made_once(final) as partial:
        if partial is not None:
            say("this Python has no ensurepip (package python3-venv): taking pip from Debian's package, into the cache")
            log = final.with_name(final.name + ".log")
            debian.unpack_packages(["python3-pip-whl"], partial, log, "pip")
    wheels = sorted(final.glob("usr/share/python-wheels/pip-*.whl"))
    if not wheels:
        raise SetupError("Python's venv is incomplete: install the package python3-venv.")
    return wheels[0]
