"""Read and check the output files of a guest kernel's build, which must be regular files with fixed names and limited sizes.

A build uses patches, Makefiles and source trees from other people, so its folder may contain anything: links, pipes, endless files.
"""

import os
import re
import struct
from pathlib import Path

from progress import SetupError
from testbed.machine.given_file import given_bytes

#: Maximum size in bytes of a stripped guest kernel, and of a text file such as its configuration. The image's files are 8 MB and 30 kB.
LARGEST_LINUX, LARGEST_TEXT = 2**27, 2**20
#: Identification, header and program header of a 64-bit ELF file.
ELF_64_LITTLE = b"\x7fELF\x02\x01\x01"
HEADER, PROGRAM_HEADER = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQQQ")
EXECUTABLE_TYPES, X86_64, LOADED = (2, 3), 62, 1
#: A line of base.facts: a patch for the guest that was applied or left out, or whether the guest uses seccomp.
FACT = re.compile(r"(applied|left away) ([\w.-]+\.patch)|seccomp (yes|no)", re.A)


def read_output(folder, name, largest) -> bytes:
    """Return the content of a file that a build has written to a folder.

    Parameters
    ----------
    folder : pathlib.Path
        Folder of a finished build.
    name : str
        Name of the file, without its folder.
    largest : int
        Maximum size of the file in bytes.

    Raises
    ------
    SetupError
        If the folder contains no regular file with this name, or if the file is larger than ``largest``.
    """
    try:
        return given_bytes(Path(folder, name), largest, os.O_NOFOLLOW)
    except OSError as error:
        raise SetupError(f"the file {name}, an output of the build, is rejected: {error.strerror}.") from None


def read_linux(folder, name) -> bytes:
    """Return the stripped kernel from a build's folder.

    Raises SetupError unless the kernel is an x86-64 program with the build number ``name``.
    """
    content = read_output(folder, "stripped", LARGEST_LINUX)
    if not is_program(content):
        raise SetupError("the kernel that was built is not a program for x86-64 (64-bit ELF), so it is rejected.")
    if not re.search(rb"Linux version [^\n\0]{1,300} #%s [^\n\0]{1,100}\n" % re.escape(name.encode()), content):
        raise SetupError(f"the kernel that was built is not Linux build #{name}, so it is rejected.")
    return content


def is_program(content) -> bool:
    """Return whether ``content`` is a complete executable ELF file for x86-64.

    The file is complete if it contains all bytes to which its program headers refer.
    """
    if len(content) < HEADER.size or not content.startswith(ELF_64_LITTLE):
        return False
    _, kind, machine, _, _, place, _, _, _, size, number, *_ = HEADER.unpack_from(content)
    if kind not in EXECUTABLE_TYPES or machine != X86_64 or size != PROGRAM_HEADER.size:
        return False
    if place + number * size > len(content):
        return False
    headers = [PROGRAM_HEADER.unpack_from(content, place + index * size) for index in range(number)]
    return any(header[0] == LOADED for header in headers) and all(
        header[2] + header[5] <= len(content) for header in headers
    )


def read_facts(folder, patches) -> list[str]:
    """Return the lines of the file base.facts in a folder.

    Raises SetupError if a line isn't a `FACT`, names a patch that isn't in ``patches``, or occurs twice.
    """
    lines = _text(folder, "base.facts").splitlines()
    for line in lines:
        fact = FACT.fullmatch(line)
        if not fact or (fact[2] and fact[2] not in patches):
            raise SetupError("base.facts has a line that isn't about the guest's patches, so the base is rejected.")
    if len(set(lines)) != len(lines):
        raise SetupError("base.facts has the same line twice, so the base is rejected.")
    return lines


def missing_options(folder, wanted) -> list[str]:
    """Return the options in ``wanted`` (`CONFIG_...`) that the .config in a folder of objects doesn't set."""
    has = {line.partition("=")[0] for line in _text(folder, ".config").splitlines() if "=" in line}
    return [option for option in wanted if option not in has]


def _text(folder, name):
    return read_output(folder, name, LARGEST_TEXT).decode(errors="replace")
