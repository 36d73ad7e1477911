"""Provide what `make selftests` needs; kernel_tests.run_selftests calls `python3 setup selftests FOLDER PACKETDRILL [KERNEL]`."""

import contextlib
import json

import kernel_scripts
import packetdrill
from kernels import provide_compiler
from progress import say
from study_files.kernels import CHECKOUT


def provide_selftests(folder, source, kernel=None) -> None:
    """Copy the programs and scripts for the kernel's own tests to a folder.

    Parameters
    ----------
    folder : pathlib.Path
        Target folder for ``programs``, ``scripts`` and ``commands.json``. The keys of the last file are ``packetdrill``, the SHA-256 of
        packetdrill's source, and ``commands``, a list of commands (a script, followed by packetdrill's arguments).
    source : pathlib.Path
        Folder or archive with packetdrill's source.
    kernel : dict, optional
        Definition of the kernel (`study_files.kernels.completed_kernel`). The default is the image's kernel.

    Raises
    ------
    SetupError
        If the source isn't packetdrill's or can't be built, or if the kernel has no scripts.
    """
    packetdrill.source_files(source)  # rejects a wrong source before an image is built
    with contextlib.chdir(CHECKOUT):
        compiler = provide_compiler()
    built, sha256 = packetdrill.provide_packetdrill(source, compiler)
    programs = folder / "programs"
    programs.mkdir()
    packetdrill.copy_programs(built, programs)
    for note in kernel_scripts.provide_programs(compiler, programs):
        say(note)
    commands = kernel_scripts.provide_scripts(kernel, compiler, folder / "scripts")
    (folder / "commands.json").write_text(json.dumps({"packetdrill": sha256, "commands": commands}))
