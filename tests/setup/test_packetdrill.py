"""packetdrill's source as users have it, folders and archives, and invalid sources."""

import io
import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import git_history
from applied_patches import apply_by_recipe
from study_files.patch_mails import patches_in

sys.path.append(str(Path(__file__).resolve().parents[2] / "setup"))

import kernel_scripts  # noqa: E402
import packetdrill  # noqa: E402
from progress import SetupError  # noqa: E402

SOURCE = {"packetdrill.c": b"int main;", "parser.y": b"%%", "lexer.l": b"%%", "Makefile.Linux": b"all:", "run.h": b""}
#: What a repository has besides, and what a build leaves.
OTHERS = {"README": b"", "parser.c": b"old", "lexer.c": b"old", "run.o": b"", "packetdrill": b"\x7fELF"}


def written(folder):
    folder.mkdir(parents=True)
    for name, content in (SOURCE | OTHERS).items():
        (folder / name).write_bytes(content)


def tar_of(path, names, mode):
    with tarfile.open(path, mode) as archive:
        for name, content in names.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


@pytest.mark.parametrize("below", ["", "gtests/net/packetdrill"])
def test_a_folder(tmp_path, below):
    written(tmp_path / "given" / below)
    assert packetdrill.source_files(tmp_path / "given") == SOURCE


@pytest.mark.parametrize("mode", ["w:", "w:gz", "w:xz", "w:bz2"])
def test_a_tar_archive_wherever_the_source_lies_in_it(tmp_path, mode):
    names = {f"packetdrill-1/gtests/net/packetdrill/{name}": content for name, content in (SOURCE | OTHERS).items()}
    tar_of(tmp_path / "given", {"packetdrill-1/README.md": b"", "packetdrill-1/tests/a.c": b""} | names, mode)
    assert packetdrill.source_files(tmp_path / "given") == SOURCE


def test_a_zip_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "given.zip", "w") as archive:
        for name, content in (SOURCE | OTHERS).items():
            archive.writestr(f"packetdrill-master/gtests/net/packetdrill/{name}", content)
    assert packetdrill.source_files(tmp_path / "given.zip") == SOURCE


def test_members_that_are_links_are_none_of_the_source(tmp_path):
    with tarfile.open(tmp_path / "given", "w") as archive:
        for name in SOURCE:
            member = tarfile.TarInfo(f"a/{name}")
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(member)
    with pytest.raises(SetupError, match="has no source of packetdrill"):
        packetdrill.source_files(tmp_path / "given")


def other_archive(path):
    tar_of(path, {"iperf-3/src/main.c": b""}, "w:gz")


def cut_archive(path):
    tar_of(path, {f"a/{name}": os.urandom(5000) for name in SOURCE}, "w:gz")
    path.write_bytes(path.read_bytes()[:9000])


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda path: None, "there is no such file or folder"),
        (lambda path: path.symlink_to("nowhere"), "it is a dangling link"),
        (lambda path: path.mkdir(), "has no source of packetdrill"),
        (lambda path: path.write_text("packetdrill"), "is not a readable archive"),
        (lambda path: os.mkfifo(path), "it is a pipe; allowed: a regular file"),
        (other_archive, "has no source of packetdrill"),
        (cut_archive, "is not a readable archive"),
    ],
)
def test_what_is_none_is_one_sentence(tmp_path, make, sentence):
    make(tmp_path / "given")
    with pytest.raises(SetupError) as raised:
        packetdrill.source_files(tmp_path / "given")
    assert sentence in str(raised.value)
    assert str(raised.value).startswith(f"PACKETDRILL={tmp_path}/given")
    assert "\n" not in str(raised.value)


PATCH = b"""From 1 Mon Sep 17 00:00:00 2001
Subject: [PATCH] tcp: change both
---
diff --git a/net/ipv4/tcp_input.c b/net/ipv4/tcp_input.c
--- a/net/ipv4/tcp_input.c
+++ b/net/ipv4/tcp_input.c
@@ -1 +1 @@
-old
+new
diff --git a/tools/testing/selftests/net/packetdrill/tcp_new.pkt b/tools/testing/selftests/net/packetdrill/tcp_new.pkt
new file mode 100644
--- /dev/null
+++ b/tools/testing/selftests/net/packetdrill/tcp_new.pkt
@@ -0,0 +1 @@
+`./defaults.sh`
diff --git a/tools/testing/selftests/net/tls.c b/tools/testing/selftests/net/tls.c
--- a/tools/testing/selftests/net/tls.c
+++ b/tools/testing/selftests/net/tls.c
@@ -1 +1 @@
-old
+new
"""


def test_what_a_patch_changes_of_the_scripts():
    kept = kernel_scripts.of_scripts(PATCH)
    assert b"tcp_new.pkt" in kept and b"tcp_input.c" not in kept and b"tls.c" not in kept
    assert b"new file mode" in kept and b"[PATCH]" not in kept
    assert kernel_scripts.of_scripts(PATCH.replace(b"/packetdrill/", b"/mptcp/")) == b""
    assert kernel_scripts.of_scripts(PATCH.replace(b"/packetdrill/", b"/packetdrill/more/")) == b""


def test_scripts_that_a_patch_renames_have_their_new_names(tmp_path):
    """One script is renamed and changed, one is only renamed, and one becomes executable."""
    scripts, repository, source = kernel_scripts.SCRIPTS, tmp_path / "linux", tmp_path / "source"
    git_history.repository(repository)
    lines = "`./defaults.sh`\n" * 9
    files = {f"{scripts}/{name}": f"{name}\n{lines}" for name in ("tcp_a.pkt", "tcp_b.pkt", "defaults.sh")}
    git_history.commit(repository, files | {"net/a.c": "one\n"}, "Begin")
    for old, new in (("tcp_a.pkt", "tcp_new.pkt"), ("tcp_b.pkt", "tcp_moved.pkt")):
        git_history.git(repository, "mv", f"{scripts}/{old}", f"{scripts}/{new}")
    (repository / scripts / "defaults.sh").chmod(0o755)
    git_history.commit(repository, {f"{scripts}/tcp_new.pkt": f"new\n{lines}", "net/a.c": "two\n"}, "selftests: rename")
    shutil.copytree(repository / scripts, source / scripts)
    for name, content in files.items():
        (source / name).write_text(content)
    for name in ("tcp_new.pkt", "tcp_moved.pkt"):
        (source / scripts / name).unlink()
    (source / scripts / "defaults.sh").chmod(0o644)
    kept = map(kernel_scripts.of_scripts, patches_in(git_history.mails(repository, 1)))
    apply_by_recipe("selftests/patch_scripts", kept, source)
    made = {path.name: path.read_text() for path in (source / scripts).iterdir()}
    assert made == {
        "tcp_new.pkt": f"new\n{lines}",
        "tcp_moved.pkt": f"tcp_b.pkt\n{lines}",
        "defaults.sh": f"defaults.sh\n{lines}",
    }
    assert (source / scripts / "defaults.sh").stat().st_mode & 0o111


def test_commands_of_the_runner():
    found = kernel_scripts.COMMAND.fullmatch("a.pkt\t-n\tpacketdrill\t--ip_version=ipv4\t-D\tA=B\ta.pkt")
    assert found[2].split("\t") == ["--ip_version=ipv4", "-D", "A=B"]
    for other in ("a.pkt\t-n\tsh\t-c\ta.pkt", "a.pkt\t-n\tpacketdrill\t-v\tb.pkt", "../a.pkt\t-n\tpacketdrill\t-v\t../a.pkt"):  # fmt: skip
        assert not kernel_scripts.COMMAND.fullmatch(other)
