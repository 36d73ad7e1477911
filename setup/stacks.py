"""Build the stacks in `examples/` with Debian's compilers; `make stack STACK=...` calls `python3 setup stack NAME...`.

A stack's locked packages are fetched from the registry of the stack's language, and compared with their hashes. Then the stack is built
without a network, in a container of the image built from envs/stacks.def, so that the resulting bytes don't depend on the machine. Two
kinds need no compiler: pip unpacks the wheels of aioquic, and the programs of examples/http are taken from Debian's packages.
"""

import difflib
import os
import re
import shutil
import tempfile
from pathlib import Path, PurePosixPath

import build_container
import build_outputs
import environment
import images
import locked_packages
from build_container import IN_CONTAINER, contained, provide_builder, said_by
from cache import cache_entry, digest, made_once, remove_tree, require_space
from locked_packages import OF_STACK
from progress import SetupError, run_fetching, say
from study_files.kernels import CHECKOUT
from study_files.stacks import PIPS, PLACE, PROGRAMS, SOURCES, stack_names
from unpacked import digest_of
from wording.terminal_text import shown

RECIPE = CHECKOUT / "envs/stacks"
#: Disk space in GB for the packages and objects of the largest stack, and maximum size of a program in bytes.
SIZE_GB, LARGEST_PROGRAM = 4, 2**28
#: Folder of shared libraries in Debian's packages, and the end of the names by which programs load them.
LIBRARIES, SONAME = PurePosixPath("usr/lib/x86_64-linux-gnu"), re.compile(r"\.so\.\d+$")
#: Limit on the CPU time of a process in s. Linking quiche takes longer than compiling the largest file of a kernel.
MOST_CPU_S = 1800
#: Environment variables that describe the machine's network and registries, for the step that fetches packages.
OF_NETWORK = [
    *(name for each in ("http_proxy", "https_proxy", "no_proxy", "all_proxy") for name in (each, each.upper())),
    "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOINSECURE", "CARGO_HTTP_PROXY",
]  # fmt: skip
#: Path of a network file on the machine -> path in the container. Behind a company's proxy, access to registries needs the machine's
#: certificates.
FILES_OF_NETWORK = {
    "/etc/resolv.conf": "/etc/resolv.conf",
    "/etc/hosts": "/etc/hosts",
    "/etc/ssl/certs/ca-certificates.crt": "/etc/ssl/certs/ca-certificates.crt",
}
#: pip's options for the Python version in the testbed's image, and for the platforms whose wheels run there.
PIP_OPTIONS = [
    "--no-deps", "--no-compile", "--only-binary", ":all:", "--python-version", images.ANALYSIS_PYTHON,
    "--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_17_x86_64",
]  # fmt: skip


def provide_stacks(named) -> None:
    """Copy stacks to `PLACE`; build each stack that isn't cached.

    Raises
    ------
    SetupError
        If a stack doesn't exist, if a package can't be fetched, if a stack can't be built, or if `PLACE` contains another file with the
        stack's name.
    """
    known = stack_names()
    if not named:
        raise SetupError(f"STACK is empty; allowed: one or more of {', '.join(known)}.")
    for name in named:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {near[0]!r}? Allowed" if near else "allowed"
            raise SetupError(f"STACK={shown(name, 60)}: there is no such stack; {meant}: {', '.join(known)}.")
    for name in named:
        place_stack(name, provide_stack(name))


def provide_stack(name) -> Path:
    """Build a stack unless it is cached, and return the path to its program or folder in the cache."""
    source = SOURCES / name
    files = [path for path in sorted(source.rglob("*")) if path.is_file() and "target" not in path.parts]
    parts = [part for path in files for part in (str(path.relative_to(source)), path)]
    if (source / PIPS).is_file():
        build, made_in = unpack_wheels, "".join(PIP_OPTIONS)
    elif (source / PROGRAMS).is_file():
        build, made_in = unpack_programs, locked_packages.content(OF_STACK + name)
    else:
        build, made_in = compile_stack, images.definition_key(images.STACKS)
    final = cache_entry("stacks", f"{name}-{digest(made_in, RECIPE, *parts)[:16]}")
    with made_once(final) as partial:
        if partial is not None:
            require_space(partial, SIZE_GB, f"building {name}")
            say(f"{name}: fetching and building{'; it takes minutes' if build is compile_stack else ''}")
            build(name, source, files, partial)
    return final / name


def unpack_wheels(name, source, files, partial) -> None:
    """Copy a stack written in Python to the folder ``partial``, and unpack the wheels that the stack's lock file lists."""
    target = partial / name
    command = [environment.VENV / "bin/python", "-m", "pip", "install", "--quiet", "--require-hashes", *PIP_OPTIONS]
    command += ["--target", target / "packages", "--requirement", source / PIPS]
    log = partial.parent / f"{name}.log"
    run_fetching([str(part) for part in command], log, f"Python packages of {name}", f"the Python packages of {name}")
    for path in files:
        if path.name != PIPS:
            shutil.copy(path, target)


def unpack_programs(name, source, files, partial) -> None:
    """Copy a stack to the folder ``partial``, with the programs that it lists and all shared libraries from its locked Debian packages."""
    target = partial / name
    (target / "lib").mkdir(parents=True)
    programs = (source / PROGRAMS).read_text().split()
    for package in sorted(locked_packages.provide(OF_STACK + name).glob("*.deb")):
        with locked_packages.opened(package, "data") as content:
            for member in content.getmembers():
                path = PurePosixPath(member.name)
                is_program = path.parent == PurePosixPath("usr/bin") and path.name in programs
                if is_program or (path.parent == LIBRARIES and SONAME.search(path.name)):
                    copy = target / (path.name if is_program else f"lib/{path.name}")
                    copy.write_bytes(content.extractfile(member).read())  # of a link, the file to which it points
                    copy.chmod(0o755)
    for path in files:
        if path.name != PROGRAMS:
            shutil.copy(path, target)


def compile_stack(name, source, files, partial) -> None:
    """Build a stack written in Rust or Go in the image with Debian's compilers, and copy it to the folder ``partial``."""
    root = provide_builder(images.STACKS) / "root"
    work = partial / "work"
    own, packages, made = (work / part for part in ("source", "packages", "made"))
    for folder in (own, packages / "cargo", made):
        folder.mkdir(parents=True)
    for path in files:
        copy = own / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    config = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo", "config.toml")
    if config.is_file():  # may name another registry, for example
        shutil.copy(config, packages / "cargo")
    binds = (f"{own}:/build/source:ro", f"{packages}:/build/packages", f"{made}:/build/made")
    limits = {"recipe": RECIPE, "seconds": build_container.LONGEST_S, "root": root, "cpu_s": MOST_CPU_S}
    files = [f"{path}:{target}:ro" for path, target in FILES_OF_NETWORK.items() if Path(path).is_file()]
    given = [f"{variable}={os.environ[variable]}" for variable in OF_NETWORK if variable in os.environ]
    steps = {
        f"the packages of {name} can't be fetched": [*contained(*binds, *files, has_network=True, **limits), root, *IN_CONTAINER, *given, "sh", "/build/guest/fetch"],
        f"{name} can't be built": [*contained(*binds, **limits), root, *IN_CONTAINER, "sh", "/build/guest/build", name],
    }  # fmt: skip
    for problem, command in steps.items():
        status, words = said_by(command, name)
        if status:
            raise SetupError(f"{problem}:\n{words.strip()[-2000:]}")
    (partial / name).write_bytes(build_outputs.read_output(made, name, LARGEST_PROGRAM))
    (partial / name).chmod(0o755)
    remove_tree(work)


def place_stack(name, built) -> None:
    """Copy a built stack to `PLACE` unless it is already there; raise SetupError if another file has the stack's name."""
    place = PLACE / name
    if place.exists():
        if identity(place) != identity(built):
            raise SetupError(
                f"{place} exists, and differs from what is built from examples/{name}: move it away, and run the command again."
            )
    else:
        PLACE.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=PLACE, prefix=f".{name}.") as folder:
            copy = Path(folder, name)
            (shutil.copytree if built.is_dir() else shutil.copy)(built, copy)
            copy.rename(place)
    say(f"{place}: built from examples/{name}, sha256:{identity(built)}")


def identity(path) -> str:
    """Return the SHA-256 of a program, or of the names and contents of the files in a folder."""
    return digest(path) if path.is_dir() else digest_of(path)
