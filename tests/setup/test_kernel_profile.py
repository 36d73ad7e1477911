"""The guest kernel's profile: a compiler's counts converted to text and back, and nearly the same when counted again."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROFILE = ROOT / "envs/guest/kernel.profile"
# A branch taken 990 times, one taken 10 times, a function never called.
PROGRAM = """\
#include <stdio.h>
int never(int x) { return x > 3 ? x * 2 : x - 1; }
int main(void) { int sum = 0; for (int i = 0; i < 1000; i++) { if (i % 100) sum += i; else sum -= 1; } printf("%d\\n", sum); }
"""


@pytest.fixture(scope="session")
def kernel_image():
    """The root of the image in which the kernel is built."""
    import images

    return images.cached_image(ROOT / images.KERNEL)[1] / "root"


@pytest.fixture
def in_image(kernel_image, tmp_path):
    """A function that runs a command in the image, in a folder with a C program; the kernel's compiler is there."""
    from build_container import contained

    (tmp_path / "program.c").write_text(PROGRAM)
    command = [*contained(f"{tmp_path}:/mnt", f"{ROOT / 'setup'}:/media:ro"), "--pwd", "/mnt", kernel_image]
    return lambda *arguments: subprocess.run([*command, *arguments], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture
def compiled(in_image, tmp_path):
    """A function that compiles the program and returns the object."""

    def compile_it(*options):
        in_image("gcc", "-O2", *options, "-c", "program.c", "-o", "program.o")
        return (tmp_path / "program.o").read_bytes()

    return compile_it


@pytest.fixture
def counted(compiled, in_image, tmp_path):
    """The compiler's own file with the counts of the program."""
    compiled("-fprofile-generate", "-fno-profile-values")
    in_image("gcc", "-fprofile-generate", "program.o", "-o", "program")
    in_image("./program")
    return tmp_path / "program.gcda"


def test_counts_are_read(counted):
    import gcda

    counts = sorted(counts for _, counts in gcda.functions(counted.read_bytes()))
    assert set(counts[0]) == {0} and {10, 990} & set(counts[1])


def test_the_compiler_takes_what_text_gives_for_its_own(counted, compiled, in_image, tmp_path):
    """The object compiled with the text's counts equals that compiled with the compiler's file, and differs from that without a profile."""
    import gcda

    options = ("-fprofile-use", "-fno-profile-values", "-Werror")
    own = compiled(*options)
    assert own != compiled()
    (tmp_path / "kernel.profile").write_text("# a comment\n" + gcda.text_of("program", counted.read_bytes()))
    counted.unlink()
    in_image("python3", "-B", "/media/gcda.py", "kernel.profile", ".")
    assert compiled(*options) == own


def test_runs_of_zeros_keep_their_length():
    import gcda

    version = gcda.version_word("14.2.0")
    assert version.to_bytes(4) == b"B42*"
    lines = [" 1 2 3 0*2 5 5 0*1", " a b c 0*7"]
    content = gcda.content_of(lines, version)
    assert [counts for _, counts in gcda.functions(content)] == [[0, 0, 5, 5, 0], [0] * 7]
    assert gcda.text_of("x", content).splitlines() == ["x", *lines]


def test_the_kernel_is_compiled_by_its_profile(kernel_image):
    """Each object of the profile was compiled with it, and has the functions that it counts."""
    names = [line for line in PROFILE.read_text().splitlines() if not line.startswith((" ", "#"))]
    for name in names:
        path = Path(name)
        command = (kernel_image / "build/objects" / path.parent / f".{path.name}.o.cmd").read_text().splitlines()[0]
        assert "-fprofile-use" in command, name


def counts_of(text):
    """Object -> identity of each of its functions -> the sum of its counts."""
    objects = {}
    for line in text.splitlines():
        words = line.split()
        if not line.startswith((" ", "#")):
            objects[line] = functions = {}
        elif line.startswith(" "):
            functions[tuple(words[:3])] = sum(int(word) for word in words[3:] if not word.startswith("0*"))
    return objects


@pytest.mark.long
def test_counted_again_the_profile_is_nearly_the_same(tmp_path):
    """The testbed's own activity affects it, so a profile by an earlier testbed differs slightly."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}/workflow/scripts:{ROOT}/workflow"}
    program, again = ROOT / "benchmarks/kernel_profile.py", tmp_path / "again.profile"
    subprocess.run([sys.executable, program, "--output", again], check=True, env=environment)
    kept, counted = (counts_of(file.read_text()) for file in (PROFILE, again))
    shared = kept.keys() & counted.keys()
    assert len(shared) > 0.95 * len(kept)
    # The source and its configuration are those that were counted.
    assert {name: kept[name].keys() for name in shared} == {name: counted[name].keys() for name in shared}
    functions = [(kept[name][one], counted[name][one]) for name in shared for one in kept[name]]
    assert sum(map(min, functions)) > 0.97 * sum(map(max, functions))
