"""Kernels from a revision of a Git repository or from an archive: how they are identified, what is read, what is refused."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import git_history
from kernel_tests.named_kernel import KernelNameError, named_kernel
from study_files import kernel_trees
from study_files.kernels import completed_kernel, completed_kernels

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "setup"))

import given_trees  # noqa: E402
import kernel_bases  # noqa: E402
from progress import SetupError  # noqa: E402

MAKEFILE = "VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\n"
LINUX = {
    "Makefile": MAKEFILE,
    "arch/um/Kconfig": "config UML_TIME_TRAVEL_SUPPORT\n",
    "net/ipv4/tcp_cubic.c": "cubic\n",
    "net/Makefile": "obj-y\n",
}


@pytest.fixture
def linux(tmp_path, monkeypatch):
    """The folder of a repository with two commits; the second changes CUBIC."""
    monkeypatch.chdir(tmp_path)
    folder = git_history.repository(tmp_path / "linux")
    git_history.commit(folder, LINUX, "Linux")
    git_history.git(folder, "tag", "v7.2-rc3")
    git_history.commit(folder, {"net/ipv4/tcp_cubic.c": "faster\n"}, "tcp_cubic: be faster")
    return folder


def kernel(tree, **keys):
    return completed_kernel({"tree": str(tree), **keys})


def test_a_revision_is_named_by_its_commit_and_its_content(linux):
    first, second = kernel("linux", revision="v7.2-rc3"), kernel("linux", revision="main")
    commit = git_history.git(linux, "rev-parse", "v7.2-rc3")
    assert (first["revision"], first["version"]) == (commit, f"7.2.0-rc3-g{commit[:12]}")
    assert first["sha256"] != second["sha256"]
    assert completed_kernel(first) == first
    # Of the same files, whatever commit they are in, and wherever the repository is.
    git_history.git(linux, "revert", "--no-edit", "HEAD")
    assert kernel("linux", revision="HEAD")["sha256"] == first["sha256"]
    git_history.git(linux.parent, "clone", "--quiet", "--bare", "linux", "bare.git")
    assert kernel("bare.git", revision=commit) == first | {"tree": "bare.git"}
    git_history.git(linux, "worktree", "add", "--quiet", "../other", "v7.2-rc3")
    assert kernel("other", revision="HEAD") == first | {"tree": "other"}


def test_nothing_of_a_repository_is_changed(linux):
    (linux / "net/ipv4/tcp_cubic.c").write_text("not committed\n")
    before = git_history.contents_of(linux)
    made = kernel("linux", revision="main")
    given_trees.copy_tree(made, linux.parent / "source")
    assert git_history.contents_of(linux) == before
    assert (linux.parent / "source/net/ipv4/tcp_cubic.c").read_text() == "faster\n"


def test_filters_and_hooks_of_a_repository_are_not_carried_out(linux):
    mark = linux.parent / "carried-out"
    git_history.commit(linux, {".gitattributes": "*.c filter=own\n"}, "Have a filter")
    git_history.git(linux, "config", "filter.own.smudge", f"touch {mark}; cat")
    git_history.git(linux, "config", "core.fsmonitor", f"touch {mark}; false")
    hook = linux / ".git/hooks/post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    mark.unlink(missing_ok=True)
    given_trees.copy_tree(kernel("linux", revision="main"), linux.parent / "source")
    assert not mark.exists()


def test_a_copy_of_a_revision_has_programs_and_links(linux):
    (linux / "run").write_text("#!/bin/sh\n")
    (linux / "run").chmod(0o755)
    (linux / "link").symlink_to("net/Makefile")
    git_history.commit(linux, {}, "Have a program and a link")
    files = given_trees.copy_tree(kernel("linux", revision="main"), linux.parent / "source")
    source = linux.parent / "source"
    assert (source / "run").stat().st_mode & 0o777 == 0o755
    assert (source / "link").readlink() == Path("net/Makefile")
    assert not given_trees.is_plain_file(files["run"]) and not given_trees.is_plain_file(files["link"])
    assert given_trees.is_as_it_was(source / "net/Makefile", files["net/Makefile"])
    assert not given_trees.is_as_it_was(source / "link", files["net/Makefile"])


def test_of_another_revision_what_changed_is_built(linux, monkeypatch):
    monkeypatch.setenv("SAWTOOTH_CACHE", str(linux.parent / "cache"))
    base = linux.parent / "cache/kernels/base-7-0"
    base.mkdir(parents=True)
    first = kernel("linux", revision="v7.2-rc3")
    files = given_trees.copy_tree(first, base / "source")
    (base / kernel_bases.FILES).write_text(kernel_bases.json.dumps(files))
    (base / kernel_bases.MADE_BY).write_text("one")
    found, changed = kernel_bases.nearest_base(kernel("linux", revision="main"), "one")
    assert found == base and [*changed] == ["net/ipv4/tcp_cubic.c"]
    given_trees.write_files(kernel("linux", revision="main"), changed, linux.parent / "changed")
    assert (linux.parent / "changed/net/ipv4/tcp_cubic.c").read_text() == "faster\n"
    git_history.commit(linux, {"net/Makefile": "obj-n\n"}, "Change what a build runs")
    assert kernel_bases.nearest_base(kernel("linux", revision="main"), "one") is None


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"tree": "linux", "revision": "v7.3"}, "revision is v7.3, of linux; it has no such revision"),
        ({"tree": "linux", "revision": "--all"}, "it has no such revision"),
        ({"tree": "linux/net", "revision": "main"}, "revision is main, of linux/net; not a git repository"),
        ({"tree": "nowhere", "revision": "main"}, "tree is nowhere; there is no such folder"),
        ({"tree": "bare.git"}, "tree is bare.git; it is a Git repository without files: name a revision"),
        ({"tree": "linux", "revision": "other"}, "linux: arch/um/Kconfig: no such file"),
        ({"tree": "linux-7.2.tar.xz"}, "tree is linux-7.2.tar.xz; there is no such file"),
        ({"tree": "broken.tar.xz"}, "tree is broken.tar.xz; it is not a readable archive"),
        ({"tree": "other.tar"}, "other.tar: Makefile: no such file"),
    ],
)
def test_what_is_wrong_is_one_sentence(linux, given, sentence):
    git_history.git(linux.parent, "clone", "--quiet", "--bare", "linux", "bare.git")
    git_history.git(linux, "checkout", "--quiet", "--orphan", "other")
    git_history.commit(linux, {"arch/um/Kconfig": None}, "Have no arch/um")
    Path("broken.tar.xz").write_bytes(b"\xfd7zXZ\0nothing")
    subprocess.run(["tar", "-cf", "other.tar", "bare.git/HEAD"], check=True)
    with pytest.raises(ValueError) as raised:
        completed_kernel(given)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


def test_a_revision_may_contain_an_at_sign(linux):
    git_history.git(linux, "branch", "fix/a@b")
    commit = git_history.git(linux, "rev-parse", "main")
    for given in ("linux@main", "linux@@", "linux@main@{0}", "linux@fix/a@b"):
        assert named_kernel(given, "7.2.13-1").kernel["revision"] == commit
    linux.rename("a@b")
    Path("a").mkdir()
    assert named_kernel("a@b@main", "7.2.13-1").kernel["revision"] == commit


def test_a_repository_of_another_user_is_refused_with_the_command_that_allows_it(linux, monkeypatch):
    monkeypatch.setenv("PATH", f"{linux.parent}/bin:{os.environ['PATH']}")
    Path("bin").mkdir()
    words = "warning: no settings\nfatal: detected dubious ownership in repository at '/linux'\nTo add an exception, call:\n\n\tgit config --global --add safe.directory /linux\n"
    Path("bin/git").write_text(f'#!/bin/sh\nprintf "{words}" >&2\nexit 128\n')
    Path("bin/git").chmod(0o755)
    with pytest.raises(ValueError) as raised:
        kernel("linux", revision="main")
    assert str(raised.value) == (
        "revision is main, of linux; detected dubious ownership in repository at '/linux'; "
        "this allows it: git config --global --add safe.directory /linux"
    )


def test_a_file_that_is_too_large_for_a_source_tree_is_named(linux, monkeypatch):
    monkeypatch.setattr(kernel_trees, "LARGEST_TREE_FILE_BYTES", 100)
    (linux / "cscope.out").write_bytes(bytes(101))
    with pytest.raises(
        KernelNameError,
        match=r"KERNEL=linux: linux/cscope\.out: it has 101 bytes; allowed: 100 in a source tree \(move",
    ):
        named_kernel("linux", "7.2.13-1")
    (problem,) = completed_kernels({"mine": {"tree": "linux"}})[1]
    assert problem.startswith("kernels.mine: linux/cscope.out: it has 101 bytes")


def test_an_empty_digest_of_a_full_disk_is_computed_again(linux):
    git_history.git(linux, "archive", "--format=tar", "--output=../linux.tar", "main")
    Path(".snakemake").mkdir()
    made = kernel("linux"), kernel("linux.tar")
    kept = [*kernel_trees.DIGESTS.iterdir()]
    assert len(kept) == 2
    for file in kept:
        file.write_text("")
    assert (kernel("linux"), kernel("linux.tar")) == made
    assert all(file.read_text() for file in kept)


def test_every_version_of_a_tree_is_a_version_in_a_study(linux):
    (linux / "Makefile").write_text(MAKEFILE.replace("-rc3", "-rc3-my_branch+"))
    Path("mine.yaml").write_text(json.dumps(kernel("linux")))
    assert named_kernel("mine.yaml", "7.2.13-1").kernel == kernel("linux")


@pytest.mark.parametrize("beside", ["._linux-7.2", "notes.txt", "other/README"])
def test_an_archive_may_have_files_beside_the_tree(linux, beside):
    Path("packed/other").mkdir(parents=True)
    Path("packed", beside).write_text("one\n")
    git_history.git(linux, "worktree", "add", "--quiet", "--detach", "../packed/linux-7.2", "main")
    subprocess.run(["tar", "-cf", "linux.tar", "--exclude=.git", "-C", "packed", beside, "linux-7.2"], check=True)
    given_trees.copy_tree(kernel("linux.tar"), linux.parent / "source")
    assert (linux.parent / "source/net/ipv4/tcp_cubic.c").read_text() == "faster\n"


def test_an_incomplete_archive_is_named(linux):
    git_history.git(linux, "archive", "--format=tar.gz", "--output=../linux.tar.gz", "main")
    Path("linux.tar.gz").write_bytes(Path("linux.tar.gz").read_bytes()[:-9])
    with pytest.raises(SetupError, match=r"^linux\.tar\.gz can't be unpacked; it may be incomplete"):
        given_trees.copy_tree(kernel("linux.tar.gz"), linux.parent / "source")


@pytest.mark.parametrize("name", ["linux-7.2.tar", "linux-7.2.tar.gz", "linux-7.2.tar.xz"])
@pytest.mark.parametrize("prefix", ["linux-7.2/", ""])
def test_an_archive_is_named_by_its_content_and_unpacked(linux, name, prefix):
    git_history.git(linux, "archive", "--format=tar", f"--prefix={prefix}", "--output=../plain.tar", "main")
    compress = {"gz": ["gzip", "-c"], "xz": ["xz", "-c"]}.get(name.rpartition(".")[2], ["cat"])
    Path(name).write_bytes(subprocess.run([*compress, "plain.tar"], capture_output=True, check=True).stdout)
    made = kernel(name)
    assert made["version"] == "7.2.0-rc3" and "revision" not in made
    assert given_trees.copy_tree(made, linux.parent / "source") == {}
    assert (linux.parent / "source/net/ipv4/tcp_cubic.c").read_text() == "faster\n"
    given_trees.copy_folders(made, ("net/ipv4",), linux.parent / "part")
    assert [str(path.relative_to("part")) for path in Path("part").rglob("*") if path.is_file()] == ["net/ipv4/tcp_cubic.c"]  # fmt: skip
    with open(name, "ab") as archive:
        archive.write(b"more")
    shutil.rmtree("source")
    with pytest.raises(SetupError, match="has changed since the study was read"):
        given_trees.copy_tree(made, linux.parent / "source")


def test_an_archive_without_a_top_folder_whose_folders_look_like_trees(linux):
    """Linux has Documentation/Makefile before Makefile, and tools/net/ipv4 would look like net/ipv4."""
    files = {
        "Documentation/Makefile": "docs\n",
        "tools/net/ipv4/tcp.c": "a tool\n",
        "Documentation/net/ipv4/a.c": "docs\n",
    }
    git_history.commit(linux, files, "Have documentation and tools")
    git_history.git(linux, "archive", "--output=../linux.tar.gz", "main")
    made = kernel("linux.tar.gz")
    assert made["version"] == "7.2.0-rc3"
    given_trees.copy_folders(made, ("net/ipv4",), linux.parent / "part")
    assert {path.name: path.read_text() for path in Path("part").rglob("*.c")} == {"tcp_cubic.c": "faster\n"}


def test_a_named_bare_repository_is_read_whatever_the_user_s_settings(linux, monkeypatch):
    git_history.git(linux.parent, "clone", "--quiet", "--bare", "linux", "bare.git")
    Path(".gitconfig").write_text("[safe]\nbareRepository = explicit\n")
    monkeypatch.setenv("HOME", str(linux.parent))
    assert kernel("bare.git", revision="main") == kernel("linux", revision="main") | {"tree": "bare.git"}


def test_selftests_take_revisions_and_archives(linux):
    found = named_kernel("linux@v7.2-rc3", "7.2.13-1")
    assert found.name == "linux-v7.2-rc3"
    assert found.kernel == kernel("linux", revision="v7.2-rc3")
    given_trees.copy_folders(found.kernel, ("net/ipv4", "nowhere"), linux.parent / "part")
    assert Path("part/net/ipv4/tcp_cubic.c").read_text() == "cubic\n" and not Path("part/net/Makefile").exists()
    with pytest.raises(KernelNameError, match="it has no such revision"):
        named_kernel("linux@v9", "7.2.13-1")
