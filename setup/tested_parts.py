"""The parts that `make selftests` runs: `python3 setup selftests FOLDER PACKETDRILL [KERNEL]`, called by kernel_tests.run_selftests."""

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
        Gets ``programs``, ``scripts``, and ``commands.json`` with ``packetdrill`` (the SHA-256 of its source) and ``commands`` (script, then
        packetdrill's arguments).
    source : pathlib.Path
        Source of packetdrill, a folder or an archive.
    kernel : dict, optional
        Definition of the kernel (`study_files.kernels.completed_kernel`); by default the image's kernel.

    Raises
    ------
    SetupError
        The source isn't packetdrill's or can't be built, or this kernel has no scripts.
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
