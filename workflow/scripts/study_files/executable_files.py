"""Find out, from an executable file's content, why the testbed's image can't start it.

The kernel reports a missing dynamic linker as a missing file, although the file itself exists.

Standard library only: the scripts in the analysis image need it too.
"""

import struct

#: Identification of ELF files for 64 bits, little-endian; number of the machine x86-64; and names of other machines.
ELF, ELF_64_LITTLE, X86_64 = b"\x7fELF", b"\x7fELF\x02\x01", 62
MACHINES = {3: "32-bit x86", 40: "32-bit Arm", 183: "64-bit Arm", 243: "RISC-V"}
#: Type of the program header that names the dynamic linker, and the image's dynamic linker.
INTERPRETER, LINKER = 3, "/lib64/ld-linux-x86-64.so.2"
#: Folder of a program's own files in a run.
FOLDER = "/program/"
#: Most program headers to read.
MOST_HEADERS = 200


def why_not_startable(content) -> str | None:
    """Return why a file with this content (bytes) can't be started, as a phrase about the file with what is allowed, or None.

    Other obstacles, such as a missing shared library, are left to the run, which quotes the dynamic linker's message.
    """
    if content.startswith(b"#!"):
        first, _, _ = content.partition(b"\n")
        if first.endswith(b"\r"):
            return "whose first line ends with CR LF; allowed: a script with LF only"
        named = first[2:].split()
        return (
            None
            if named
            else "whose first line names no interpreter; allowed: a script that begins with #!/bin/sh, for example"
        )
    if not content.startswith(ELF):
        return "which is neither a program for Linux (ELF) nor a script; allowed: a script that begins with #!/bin/sh, for example"
    try:
        (machine,) = struct.unpack_from("<H", content, 18)
        if not content.startswith(ELF_64_LITTLE) or machine != X86_64:
            return f"which is built for {MACHINES.get(machine, 'another machine')}; allowed: a program for x86-64"
        linker = _linker(content)
    except (struct.error, UnicodeDecodeError, OverflowError):
        return "which is a damaged ELF file; allowed: a program for x86-64"
    if linker == "":
        return "which is a damaged ELF file; allowed: a program for x86-64"
    if linker is None or linker == LINKER or linker.startswith(FOLDER):
        return None
    return f"which needs the dynamic linker {linker}; allowed: a statically linked program, or one that uses the image's {LINKER}"


def _linker(content):
    """Return the path of the dynamic linker that an ELF file names, or None if the file is statically linked."""
    (start,) = struct.unpack_from("<Q", content, 32)
    size, number = struct.unpack_from("<HH", content, 54)
    for index in range(min(number, MOST_HEADERS)):
        at = start + index * size
        (kind,) = struct.unpack_from("<I", content, at)
        if kind == INTERPRETER:
            (offset,), (length,) = struct.unpack_from("<Q", content, at + 8), struct.unpack_from("<Q", content, at + 32)
            return content[offset : offset + length].rstrip(b"\0").decode("utf-8")
    return None
