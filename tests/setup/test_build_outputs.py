"""Outputs of a guest kernel's build: accepted and refused ones."""

import os
import struct

import pytest

NAME = "0123456789abcdef"
BANNER = f"Linux version 7.2.13 (sawtooth@sawtooth) (gcc) #{NAME} Thu Jan  1 00:00:00 UTC 1970\n".encode()


def program(content=BANNER, kind=2, machine=62, size=None):
    """Return an ELF file with a single segment, all of which is loaded."""
    total = 64 + 56 + len(content)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", kind, machine, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size or total, total, 4096) + content


@pytest.fixture
def outputs(monkeypatch):
    import build_outputs

    return build_outputs


def test_a_kernel_is_taken_over(outputs, tmp_path):
    (tmp_path / "stripped").write_bytes(program())
    assert outputs.read_linux(tmp_path, NAME) == program()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not a program"),
        (b"text of somebody's", "not a program"),
        (b"\x7fELF\x02\x01\x01", "not a program"),
        (program(machine=183), "not a program"),
        (program(kind=1), "not a program"),
        (program(size=10**9), "not a program"),
        (program(b"not Linux"), "is not Linux build"),
        (program(BANNER.replace(NAME.encode(), b"1")), "is not Linux build"),
    ],
)
def test_something_else_than_the_kernel_is_refused(outputs, tmp_path, content, why):
    (tmp_path / "stripped").write_bytes(content)
    with pytest.raises(outputs.SetupError, match=why):
        outputs.read_linux(tmp_path, NAME)


def test_what_is_no_regular_file_is_not_opened(outputs, tmp_path):
    secret, place = tmp_path / "secret", tmp_path / "objects/stripped"
    secret.write_bytes(program())
    place.parent.mkdir()
    for make, why in (
        (lambda: place.symlink_to(secret), "symbolic links"),
        (lambda: place.symlink_to("/dev/zero"), "symbolic links"),
        (lambda: os.mkfifo(place), "it is a pipe"),
        (lambda: place.symlink_to("nowhere"), "symbolic links"),
        (place.mkdir, "Is a directory"),
    ):
        make()
        with pytest.raises(
            outputs.SetupError, match=f"the file stripped, an output of the build, is rejected: .*{why}"
        ):
            outputs.read_linux(place.parent, NAME)
        place.rmdir() if place.is_dir() and not place.is_symlink() else place.unlink()
    with pytest.raises(outputs.SetupError, match="No such file"):
        outputs.read_linux(place.parent, NAME)


def test_a_giant_is_refused_before_it_is_read(outputs, tmp_path):
    for name, read in (
        ("stripped", lambda: outputs.read_linux(tmp_path, NAME)),
        (".config", lambda: outputs.missing_options(tmp_path, [])),
        ("base.facts", lambda: outputs.read_facts(tmp_path, set())),
    ):
        with (tmp_path / name).open("wb") as file:
            file.truncate(2**40)
        with pytest.raises(outputs.SetupError, match="it has 1,099,511,627,776 bytes; allowed:"):
            read()


def test_facts_are_those_of_the_guests_patches(outputs, tmp_path):
    facts = tmp_path / "base.facts"
    facts.write_text("applied 0001-one.patch\nleft away 0002-two.patch\nseccomp yes\n")
    known = {"0001-one.patch", "0002-two.patch"}
    assert outputs.read_facts(tmp_path, known) == facts.read_text().splitlines()
    for line in ("root:x:0:0", "applied 0003-three.patch", "seccomp no way", "applied 0001-one.patch", "", "version 7"):
        facts.write_text(f"applied 0001-one.patch\n{line}\n")
        with pytest.raises(outputs.SetupError, match="base.facts has (a line that|the same line twice)"):
            outputs.read_facts(tmp_path, known)


def test_missing_options_are_those_of_the_configuration(outputs, tmp_path):
    (tmp_path / ".config").write_text("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_TEXT='CONFIG_C=y'\n")
    assert outputs.missing_options(tmp_path, ["CONFIG_A", "CONFIG_B", "CONFIG_C"]) == ["CONFIG_B", "CONFIG_C"]


def test_words_of_others_obey_no_terminal(capsys):
    import progress

    progress.say("==> \x1b[2Jgone\r\x9b31m \u202eabc\ta\n")
    assert progress.refuse(progress.SetupError("\x07bell")) == 1
    said = capsys.readouterr()
    assert said.out == "==> \\x1b[2Jgone\\r\\x9b31m \\u202eabc\ta\n\n"
    assert said.err == "sawtooth: \\x07bell\n"
