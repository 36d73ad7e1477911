"""A guest kernel with C files of the user's: `python3 setup kernel NAME LINUX DESCRIPTION FILE=SHA256...`, called by the workflow.

They are built as a part of it, for a kernel that loads modules has other bytes, in the image of envs/kernel.def, which has source and objects:
a few seconds. The compiler runs in a container of its own that has no network and sees of the machine only the files.
"""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import environment
import images
import toolbox
from cache import cache_dir, digest, made_once, require_space
from progress import SetupError, say

#: Of net/sawtooth in the kernel's tree: objects, and where the headers of the kernel's own CCAs are.
MAKEFILE = "obj-y := {objects}\nccflags-y := -I$(srctree)/net/ipv4\n"
#: Copy of the objects, and the new kernel.
SIZE_GB = 1
#: What make is at: "  LINK linux".
STEP = re.compile(r"  [A-Z]+ +\S+$")
#: The first lines of what a failed build said.
LINES = 12


def provide_kernel(name, linux, description, sources) -> None:
    """Put a kernel and its description where the workflow wants them, built unless the cache has it.

    Parameters
    ----------
    name : str
        What names it by its content (`testbed.definitions.kernel_id`); it becomes the number of its build.
    linux, description : pathlib.Path
        The kernel, and a JSON file with all that it takes to build it again, the C files' text among it.
    sources : dict
        Path of each C file -> the SHA-256 that it must have.

    Raises
    ------
    SetupError
        A file has changed, can't be read, or isn't compiled; then with the compiler's words.
    """
    for path, sha256 in sources.items():
        if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
            raise SetupError(
                f"{path} has changed since the study was read, or is not the file that it names: call again."
            )
    base = provide_base()
    described = json.loads((base / "image.json").read_text())
    final = cache_dir() / "kernels" / digest(name, described["definition_key"], *map(str, sources))[:16]
    with made_once(final) as partial:
        if partial is not None:
            require_space(partial, SIZE_GB, "a guest kernel with CCAs of your own")
            build(name, base / "root", partial, sources)
            described = {
                "kernel": name,
                "linux_sha256": hashlib.sha256((partial / "linux").read_bytes()).hexdigest(),
                "files": [
                    {"path": str(path), "sha256": sha256, "text": path.read_text(errors="replace")}
                    for path, sha256 in sources.items()
                ],
                "built_on": {
                    key: described[key] for key in ("linux_source", "linux_sha256", "packages", "definition_key")
                },
            }
            (partial / "kernel.json").write_text(json.dumps(described, indent=2) + "\n")
    for made, wanted in ((final / "linux", linux), (final / "kernel.json", description)):
        wanted.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(made, wanted)


def provide_base() -> Path:
    """Return the folder of the image that kernels are built in, built unless it is there."""
    if images.missing_images([images.KERNEL]):
        images.check_sources()
        tools = toolbox.building_environment(environment.VENV)
        apptainer = toolbox.provide_apptainer(environment.VENV)
        images.build_image(images.KERNEL, apptainer, tools, environment.VENV / "bin/python")
    return images.cached_image(images.KERNEL)[1]


def build(name, root, partial, sources) -> None:
    """Fill the directory ``partial`` with ``linux`` and the C files, built in the image ``root``."""
    objects, own = partial / "objects", partial / "own"
    # Dates are kept, or all would be compiled again.
    subprocess.run(["cp", "-a", "--reflink=auto", root / "build/objects", objects], check=True)
    own.mkdir()
    for path in sources:
        shutil.copyfile(path, own / path.name)
    (own / "Makefile").write_text(MAKEFILE.format(objects=" ".join(path.with_suffix(".o").name for path in sources)))
    command = [
        environment.VENV.absolute() / "bin/apptainer", "--silent", "exec", "--userns", "--containall", "--no-home", "--net", "--network", "none",
        "--bind", f"{objects}:/build/objects", "--bind", f"{own}:/build/source/net/sawtooth:ro",
        "--env", f"SAWTOOTH_KERNEL={name}", root,
        "sh", "-c", "/build/make_kernel linux && strip -o /build/objects/stripped /build/objects/linux",
    ]  # fmt: skip
    made = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = made.stdout.decode(errors="replace")
    for path in sources:
        said = re.sub(rf"\S*net/sawtooth/{re.escape(path.name)}", lambda _, path=path: str(path), said)
    if made.returncode:
        raise SetupError(f"{', '.join(map(str, sources))} can't be built into the guest kernel:\n{first_lines(said)}")
    # Warnings; of the rest make says at most what it is at.
    if warnings := "\n".join(line for line in said.splitlines() if line.strip() and not STEP.match(line)):
        say(warnings)
    (objects / "stripped").rename(partial / "linux")
    shutil.rmtree(objects)
    shutil.rmtree(own)


def first_lines(text) -> str:
    """Return the lines of a failed build from the first error on."""
    lines = [line for line in text.splitlines() if not line.startswith("make")]
    first = next((place for place, line in enumerate(lines) if re.search(r"\berror\b|undefined|multiple def", line)), 0)
    return "\n".join(lines[first : first + LINES])
