"""Provide the packetdrill scripts of a guest kernel's own tests, and the command that starts each script.

The kernel source in the image of envs/kernel.def contains no tests. Therefore the scripts come from Debian's package or from a user's
source tree, and the study's patches are applied to them. The kernel's `ksft_runner.sh` determines how a script is started. Because this
runner differs between versions, it is run in the build container, and the commands that it would start are recorded.
"""

import contextlib
import re
import shutil
from pathlib import Path

import build_outputs
import given_trees
import locked_packages
import own_tree
from build_container import IN_CONTAINER, LONGEST_S, contained, said_by
from cache import cache_entry, digest, made_once
from kernels import parts_of, read_once, without_text
from packetdrill import RECIPE
from progress import SetupError, say
from study_files.kernels import CHECKOUT, NEWEST
from study_files.patch_mails import named_paths, patches_in

#: Folder of the packetdrill scripts in a source tree, folder of the files that their runner includes, and first Linux version with scripts.
SCRIPTS, INCLUDED = "tools/testing/selftests/net/packetdrill", "tools/testing/selftests/kselftest"
SINCE = "6.12"
#: A command recorded from the runner: the script, followed by the arguments of `unshare` (`-n packetdrill OPTION... SCRIPT`).
COMMAND = re.compile(r"([\w.+@=-]+\.pkt)\t-n\tpacketdrill\t(.*)\t\1", re.A)
#: Maximum size of the list of commands in bytes. For Linux 7.2 the list is 200,000 bytes long.
LARGEST_COMMANDS = 2**24


def provide_scripts(kernel, compiler, folder) -> list[list[str]]:
    """Copy a kernel's scripts to a new folder, and return the commands that start the scripts.

    Parameters
    ----------
    kernel : dict or None
        Definition of the kernel (`study_files.kernels.completed_kernel`), or None for the image's kernel.
    compiler : pathlib.Path
        Folder of the image in which kernels are built.
    folder : pathlib.Path
        New folder for the scripts.

    Returns
    -------
    list of list of str
        Commands, each a list of the script and packetdrill's arguments. A script may be started several times.

    Raises
    ------
    SetupError
        If this version of Linux has no scripts, if a patch to the scripts doesn't apply, or if the runner starts a program other than
        packetdrill.
    """
    what = f"Linux {kernel['version']}" if kernel and "version" in kernel else "the image's Linux"
    work = folder.with_name(f"{folder.name}-work")
    source, made = work / "source", work / "made"
    made.mkdir(parents=True)
    if kernel and "tree" in kernel:
        given_trees.copy_folders(kernel, (SCRIPTS, INCLUDED), source)
    else:
        base = kernel["base"] if kernel else NEWEST
        shutil.copytree(unpacked_scripts("linux" if base == NEWEST else f"linux-{base}", compiler), source)
    if kernel:
        apply_patches(kernel["patches"], source, work / "patches", compiler, what)
    if not (source / SCRIPTS / "ksft_runner.sh").is_file():
        raise SetupError(f"{what} has no packetdrill scripts ({SCRIPTS}/ksft_runner.sh); Linux has had them since {SINCE}.")  # fmt: skip
    commands = ask_runner(source, made, compiler, what)
    shutil.copytree(source / SCRIPTS, folder, ignore=_but_plain_files)
    shutil.rmtree(work)
    return commands


def unpacked_scripts(section, compiler) -> Path:
    """Return a folder with `SCRIPTS` and `INCLUDED` from a Debian package of kernel source; unpack them if they aren't cached."""
    with contextlib.chdir(CHECKOUT):
        key = digest(compiler.name, RECIPE / "unpack", locked_packages.content(section))[:16]
        final = cache_entry("selftests", f"scripts-{section}-{key}")
        with made_once(final) as partial:
            if partial is not None:
                say(f"{section}: unpacking the kernel's tests")
                unpack(locked_packages.provide(section), partial, compiler, SCRIPTS, INCLUDED)
    return final


def provide_programs(compiler, folder) -> list[str]:
    """Copy to a folder the programs that scripts call but that aren't in the testbed's image.

    Return a sentence for each program that can't be provided.
    """
    try:
        with contextlib.chdir(CHECKOUT):
            packages = locked_packages.provide(locked_packages.SELFTESTS)
    except SetupError as error:
        return [f"ethtool is missing, so scripts that call it are not fit: {error}"]
    unpack(packages, folder, compiler)
    (folder / "ethtool").chmod(0o755)
    return []


def unpack(packages, folder, compiler, *paths) -> None:
    """Unpack all packages in a folder to another folder with the script envs/selftests/unpack, which selects the files."""
    binds = (f"{packages}:/build/debian:ro", f"{folder}:/build/made")
    in_container("unpack", paths, binds, compiler, f"{packages} can't be unpacked")


def apply_patches(patches, source, folder, compiler, what) -> None:
    """Apply to the scripts in ``source`` the parts of patches that change scripts."""
    folder.mkdir()
    changing = []
    for patch in patches:
        for text in map(of_scripts, patches_in(read_once(Path(patch["path"]), patch["sha256"]))):
            if text:
                (folder / f"{len(changing):03}.patch").write_bytes(text)
                changing.append(patch["path"])
    if changing:
        binds = (f"{source}:/build/source", f"{folder}:/build/patches:ro")
        problem = f"the changes to {SCRIPTS} in {', '.join(dict.fromkeys(changing))} do not apply to {what}"
        in_container("patch_scripts", (), binds, compiler, problem)


def of_scripts(patch) -> bytes:
    """Return the parts of a patch (bytes) that change scripts."""
    parts = parts_of(patch)[1:]
    changing = (part for part in parts if any(str(Path(path).parent) == SCRIPTS for path in named_paths([part])))
    return b"".join(map(without_text, changing))


def ask_runner(source, made, compiler, what) -> list[list[str]]:
    """Return the commands with which the kernel's runner would start the scripts in ``source``."""
    binds = (f"{source}:/build/source:ro", f"{made}:/build/made")
    in_container("ask_runner", (SCRIPTS,), binds, compiler, f"the runner of {what} can't be queried")
    commands = []
    for line in build_outputs.read_output(made, "commands", LARGEST_COMMANDS).decode(errors="replace").splitlines():
        if not (command := COMMAND.fullmatch(line)):
            raise SetupError(f"{SCRIPTS}/ksft_runner.sh of {what} starts {' '.join(line.split())[:200]!r}; allowed: `unshare -n packetdrill OPTION... SCRIPT`.")  # fmt: skip
        commands.append([command[1], *command[2].split("\t")])
    return commands


def in_container(script, arguments, binds, compiler, problem) -> None:
    """Run a script from envs/selftests in the build container.

    If the script fails, SetupError is raised with ``problem`` and the last line of the script's output.
    """
    command = contained(*binds, recipe=RECIPE, seconds=LONGEST_S, root=compiler / "root")
    command += [compiler / "root", *IN_CONTAINER, "bash", f"/build/guest/{script}", *arguments]
    status, words = said_by(command, "the kernel's tests")
    if status:
        raise SetupError(f"{problem}: {(words.strip().splitlines() or [f'exit status {status}'])[-1][:300]}.")


def _but_plain_files(folder, names):
    return {name for name in names if not own_tree.is_plain(Path(folder), name)}
