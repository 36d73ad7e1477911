"""Write the lock files, which list all packages of an environment or image with their versions and hashes."""

import sys
from pathlib import Path

import python_packages
from environment import DOCS_LOCK, LOCK, LOG
from images import ANALYSIS_PYTHON
from lock_debian import write_debian_lock
from progress import run_fetching

TARGETS = {
    # The environments must work with Python 3.11 and later. The image's Python version and platform are fixed.
    LOCK: ["--universal", "--python-version", "3.11"],
    python_packages.LOCK: ["--universal", "--python-version", "3.11"],
    DOCS_LOCK: ["--universal", "--python-version", "3.11"],
    Path("envs/analysis.lock"): ["--python-version", ANALYSIS_PYTHON, "--python-platform", "x86_64-manylinux_2_28"],
}


def write_locks(python=sys.executable) -> None:
    """Resolve the packages in envs/*.in again, and write envs/*.lock.

    Debian packages are resolved with apt, and Python packages with uv.
    """
    write_debian_lock()
    pip = python_packages.pip_command(python)
    uv, environ = python_packages.provide_uv(pip, LOG), python_packages.uv_environment(pip)
    for lock, options in TARGETS.items():
        command = [
            str(uv),
            "pip",
            "compile",
            "--quiet",
            "--upgrade",
            "--generate-hashes",
            "--no-annotate",
            "--no-emit-index-url",
            "--no-emit-find-links",
            "--custom-compile-command",
            "make lock",
            *options,
            str(lock.with_suffix(".in")),
            "--output-file",
            str(lock),
        ]
        run_fetching(command, LOG, str(lock), f"the packages of {lock}", env=environ)
