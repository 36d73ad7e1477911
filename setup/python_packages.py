"""Install locked Python packages into an environment: by uv, which takes seconds where pip takes a minute, or by pip if uv can't do it.

uv is itself a locked package. pip installs it into the cache, and is taken from the machine's Python or from a Debian package.
"""

import ast
import importlib.util
import os
import sysconfig
from pathlib import Path

import debian
from cache import cache_entry, digest, made_once, writable_entry
from progress import SetupError, run_fetching, run_logged, run_quietly, say

#: Lock file that lists uv.
LOCK = Path("envs/installer.lock")
#: Compiling bytecode would take half of pip's time, mostly for modules that are never imported. Python compiles the others on import.
PIP_OPTIONS = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"]
#: Folder with pip's wheel in Debian's packages.
DEBIAN_WHEELS = "usr/share/python-wheels"
#: Sections of pip's configuration that apply to `pip install` -> their precedence; ":env:" stands for environment variables.
SECTIONS = {"global": 1, "install": 2, ":env:": 3}
#: Setting of pip -> environment variable of uv with the same meaning, and the separator of several values (None: one value).
UV_VARIABLES = {
    "index-url": ("UV_DEFAULT_INDEX", None), "extra-index-url": ("UV_INDEX", " "), "find-links": ("UV_FIND_LINKS", ","),
    "no-index": ("UV_NO_INDEX", None), "trusted-host": ("UV_INSECURE_HOST", " "), "cert": ("SSL_CERT_FILE", None),
    "proxy": ("ALL_PROXY", None),
}  # fmt: skip
#: Other settings for uv: files are copied, because an edited link would change uv's cache; as in pip, the best version of all indexes is
#: taken, whose hash is checked anyway; pip is tried if the network doesn't respond, so uv needn't wait long.
UV_SETTINGS = {
    "UV_LINK_MODE": "copy", "UV_INDEX_STRATEGY": "unsafe-best-match", "UV_HTTP_TIMEOUT": "15", "UV_HTTP_RETRIES": "1",
}  # fmt: skip


def install(python, lock, log) -> None:
    """Install the packages of a lock file into the environment of an interpreter.

    Parameters
    ----------
    python : str
        Path to the environment's interpreter.
    lock, log : pathlib.Path
        Lock file, and file for the output of uv and pip.

    Raises
    ------
    SetupError
        If the packages can't be fetched, or if a package doesn't match the lock file.
    """
    pip, title, locked = pip_command(python), "its Python packages", ["--require-hashes", "--requirement", str(lock)]
    try:
        uv = provide_uv(pip, log)
        command = [str(uv), "pip", "install", "--quiet", "--no-config", "--python", python, *locked]
        run_logged(command, log, title, uv_environment(pip))
    except (SetupError, OSError):  # an index may need something that only pip knows
        run_fetching([*pip, "install", *PIP_OPTIONS, *locked], log, title, f"the Python packages of {lock}")


def provide_uv(pip, log) -> Path:
    """Return the path to the locked uv in the cache, after fetching it with pip if necessary; raise SetupError if it can't be fetched."""
    final = cache_entry("uv", digest(LOCK)[:16])
    with made_once(final) as partial:
        if partial is not None:
            options = [*PIP_OPTIONS, "--retries", "1", "--require-hashes", "--requirement", str(LOCK)]
            run_fetching([*pip, "install", *options, "--target", str(partial)], log, "uv", "uv")
    return final / "bin/uv"


def uv_environment(pip, environ=os.environ) -> dict[str, str]:
    """Return the environment variables for uv, which has its packages in Sawtooth's cache and doesn't read pip's configuration.

    Variables in the caller's environment take precedence over pip's configuration.
    """
    told = {}
    lines = (line.partition("=") for line in run_quietly([*pip, "config", "list"]).splitlines())
    settings = [
        (*key.partition(".")[::2], value) for key, _, value in lines
    ]  # such as "global", "index-url", "'https://...'"
    for section, name, value in sorted(settings, key=lambda one: SECTIONS.get(one[0], 0)):
        variable, separator = UV_VARIABLES.get(name, (None, None))
        if variable and section in SECTIONS:
            values = [one for one in ast.literal_eval(value).split() if variable != "UV_FIND_LINKS" or _exists(one)]
            told[variable] = (separator or " ").join(values)
    told = {name: value for name, value in told.items() if value}
    return UV_SETTINGS | {"UV_CACHE_DIR": str(writable_entry("packages", "uv"))} | told | environ


def _exists(place):
    return "://" in place or os.path.exists(place)


def pip_command(python) -> list[str]:
    """Return a command that runs pip for an interpreter. Python can run pip directly from a wheel, such as the one in ensurepip."""
    found = importlib.util.find_spec("ensurepip")
    places = [Path(found.origin).parent / "_bundled", Path(sysconfig.get_config_var("WHEEL_PKG_DIR") or "/none")]
    wheels = [wheel for place in places for wheel in sorted(place.glob("pip-*.whl"))] if found else []
    return [python, f"{wheels[0] if wheels else fetch_pip()}/pip"]


def fetch_pip() -> Path:
    """Fetch pip from the Debian package python3-pip-whl without installing the package, and return the path to pip's wheel."""
    final = cache_entry("pip", digest(debian.SUITE)[:16])
    with made_once(final) as partial:
        if partial is not None:
            say("this Python has no ensurepip (package python3-venv): taking pip from Debian's package, into the cache")
            log = final.with_name(final.name + ".log")
            debian.unpack_packages(["python3-pip-whl"], partial, log, "pip")
    wheels = sorted(final.glob(f"{DEBIAN_WHEELS}/pip-*.whl"))
    if not wheels:
        raise SetupError("Python's venv is incomplete: install the package python3-venv.")
    return wheels[0]
