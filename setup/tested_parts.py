"""Provide the parts of `make selftests`. kernel_tests.run_selftests calls `python3 setup selftests FOLDER PACKETDRILL [KERNEL]`."""

import contextlib
import json

import kernel_scripts
import packetdrill
from kernels import provide_compiler
from progress import say
from study_files.kernels import CHECKOUT


def provide_selftests(folder, source, kernel=None) -> None:
    """Put the programs and scripts for the kernel's own tests into a folder.

    Parameters
    ----------
    folder : pathlib.Path
        Target folder for ``programs``, ``scripts`` and ``commands.json``. The last file has the SHA-256 of packetdrill's source as
        ``packetdrill``, and the commands (a script, followed by packetdrill's arguments) as ``commands``.
    source : pathlib.Path
        Folder or archive with the source of packetdrill.
    kernel : dict, optional
        Kernel (`study_files.kernels.completed_kernel`). By default, it is the image's kernel.

    Raises
    ------
    SetupError
        If the source isn't packetdrill's or can't be built, or if the kernel has no scripts.
    """
    packetdrill.source_files(source)  # refuses a wrong source before an image is built
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
