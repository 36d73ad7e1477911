"""A compiler's profile of the guest kernel as text, and back: `python3 gcda.py PROFILE FOLDER`, in the image of envs/guest (kernel.def).

gcc counts how often each branch of a program is taken (`-fprofile-generate`), an object's counts in a file ``<object>.gcda``, and compiles by
them (`-fprofile-use`). The text, envs/guest/kernel.profile, has a line for each object, its name; and below it one for each function:
what gcc knows it by (identity and checksums of its lines and branches), and its counts, 0*N for N of them that are 0.

Source: gcc/gcov-io.h. Standard library only.
"""

import itertools
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MAGIC, OBJECT, FUNCTION, BRANCHES = 0x67636461, 0xA1000000, 0x01000000, 0x01A10000


def records(content) -> Iterator[tuple[int, int, bytes]]:
    """Iterate over the records of a .gcda file: tag, length in bytes (negative: so many, all 0), content."""
    place = 16
    while place + 8 <= len(content) and (tag := struct.unpack_from("<I", content, place)[0]):
        (length,) = struct.unpack_from("<i", content, place + 4)
        place += 8
        yield tag, length, content[place : place + max(length, 0)]
        place += max(length, 0)


def functions(content) -> Iterator[tuple[tuple[int, int, int], list[int]]]:
    """Iterate over the functions of a .gcda file: identity and two checksums, how often each of its branches was taken."""
    known_by = None
    for tag, length, body in records(content):
        if tag == FUNCTION:
            known_by = struct.unpack("<3I", body) if body else None
        elif tag == BRANCHES and known_by:
            yield known_by, list(struct.unpack(f"<{length // 8}q", body)) if length > 0 else [0] * (-length // 8)


def text_of(name, content) -> str:
    """Return the lines of an object of this name from its .gcda file."""
    lines = [name]
    for known_by, counts in functions(content):
        runs = ((count, len(list(same))) for count, same in itertools.groupby(counts))
        words = [word for count, times in runs for word in ([str(count)] * times if count else [f"0*{times}"])]
        lines.append(" " + " ".join([*(f"{number:x}" for number in known_by), *words]))
    return "\n".join(lines) + "\n"


def content_of(lines, version) -> bytes:
    """Return the .gcda file of an object from the lines of its functions, for a gcc of this version (`version_word`)."""
    parsed = []
    for line in lines:
        words = line.split()
        counts = []
        for word in words[3:]:
            count, _, times = word.partition("*")
            counts += [int(count)] * int(times or 1)
        parsed.append(([int(word, 16) for word in words[:3]], counts))
    most = max(itertools.chain.from_iterable(counts for _, counts in parsed), default=0)
    parts = [struct.pack("<4I", MAGIC, version, 0, 0), struct.pack("<IiII", OBJECT, 8, 1, min(most, 2**32 - 1))]
    for known_by, counts in parsed:
        parts.append(struct.pack("<Ii3I", FUNCTION, 12, *known_by))
        size = 8 * len(counts)
        parts.append(
            struct.pack(f"<Ii{len(counts)}q", BRANCHES, size, *counts)
            if any(counts)
            else struct.pack("<Ii", BRANCHES, -size)
        )
    return b"".join(parts) + bytes(4)


def version_word(version) -> int:
    """Return how gcc writes its version into such files: 14.2.0 -> the bytes of "B42*"."""
    major, minor = (int(part) for part in version.split(".")[:2])
    return int.from_bytes(bytes([ord("A") + major // 10, ord("0") + major % 10, ord("0") + minor, ord("*")]))


def main() -> None:
    """Write the .gcda file of each object of a profile into a folder, beside where the object will be."""
    profile, folder = map(Path, sys.argv[1:])
    version = version_word(
        subprocess.run(["gcc", "-dumpfullversion"], stdout=subprocess.PIPE, check=True).stdout.decode()
    )
    objects, lines = {}, []
    for line in profile.read_text().splitlines():
        if line.startswith(" "):
            lines.append(line)
        elif not line.startswith("#"):
            lines = objects[line] = []
    for name, lines in objects.items():
        file = folder / f"{name}.gcda"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content_of(lines, version))


if __name__ == "__main__":
    main()
