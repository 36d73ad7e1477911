"""Patches of a guest kernel, as the build applies them: what is left away, renames and modes, and the message if one doesn't apply."""

import gzip
from pathlib import Path

import pytest

import build_words
import git_history
import kernels
from applied_patches import apply_by_recipe
from study_files.kernels import completed_kernel
from study_files.patch_mails import named_paths, patches_in

PATCH = """--- a/net/ipv4/tcp_cong.c
+++ b/net/ipv4/tcp_cong.c
@@ -1,1 +1,1 @@
-old
+new
"""
ETHERNET = "drivers/net/ethernet/chelsio/chtls_cm.c"


def test_what_a_patch_changes_beside_the_kernel_is_left_away(tmp_path):
    beside = PATCH.replace("net/ipv4/tcp_cong.c", "tools/testing/selftests/net/x.c")
    git = "diff --git a/Documentation/a.rst b/Documentation/a.rst\n--- a/Documentation/a.rst\n+++ b/Documentation/a.rst\n@@ -1 +1 @@\n-a\n+b\n"
    removed = (
        "diff --git a/net/x.c b/net/x.c\ndeleted file mode 100644\n--- a/net/x.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    )
    content = ("words\n" + PATCH + beside + git + removed).encode()
    assert kernels.of_kernel(content, tmp_path).decode() == PATCH + removed


@pytest.fixture
def repository(tmp_path):
    """A repository with a kernel file, a script, a test, and a driver."""
    repository = git_history.repository(tmp_path / "linux")
    files = dict.fromkeys(("net/a.c", "scripts/run.sh", "tools/testing/a.sh", ETHERNET), "one\n" * 9)
    git_history.commit(repository, files, "Begin")
    return repository


def test_a_series_with_a_mail_that_changes_no_kernel_file_applies(repository, tmp_path):
    git_history.commit(repository, {"net/a.c": "two\n", "tools/testing/a.sh": "two\n"}, "net: both")
    git_history.commit(repository, {"tools/testing/a.sh": "three\n"}, "selftests: only a test")
    git_history.commit(repository, {"net/a.c": "four\n"}, "net: again")
    (tmp_path / "source/net").mkdir(parents=True)
    (tmp_path / "source/net/a.c").write_text("one\n" * 9)
    files = kernels.patch_files([git_history.mails(repository, 3)], tmp_path / "source")
    assert list(files) == ["000-001.patch", "000-003.patch"]
    apply_by_recipe("guest/patch_own", files.values(), tmp_path / "source")
    assert (tmp_path / "source/net/a.c").read_text() == "four\n"
    assert list(kernels.patch_files([git_history.mails(repository, 1)], tmp_path / "source")) == ["000.patch"]
    git_history.commit(repository, {"tools/testing/a.sh": "five\n"}, "selftests: again")
    assert kernels.patch_files([git_history.mails(repository, 1)], tmp_path / "source") == {}


@pytest.mark.parametrize("is_git", [True, False])
@pytest.mark.parametrize("old, new", [("i/", "w/"), ("a/", "a/"), ("linux-7.2.orig/", "linux-7.2/")])
def test_any_prefix_is_left_out_of_paths(repository, tmp_path, old, new, is_git):
    git_history.commit(repository, {"net/a.c": "two\n", "tools/testing/a.sh": "two\n"}, "net: both")
    patch = git_history.git(repository, "diff", f"--src-prefix={old}", f"--dst-prefix={new}", "HEAD~1") + "\n"
    lines = [line for line in patch.splitlines(True) if is_git or not line.startswith(("diff --git", "index"))]
    patch = "".join(lines).encode()
    assert named_paths([patch]) == ["net/a.c", "tools/testing/a.sh"]
    source = tmp_path / "source"
    (source / "net").mkdir(parents=True)
    (source / "net/a.c").write_text("one\n" * 9)
    apply_by_recipe("guest/patch_own", kernels.patch_files([patch], source).values(), source)
    assert (source / "net/a.c").read_text() == "two\n"


@pytest.mark.parametrize(
    "content, sentence",
    [
        (b"diff --git net/a.c net/a.c\n--- net/a.c\n+++ net/a.c\n@@ -1 +1 @@\n-a\n+b\n", "it names net/a.c without a prefix"),
        (gzip.compress(PATCH.encode()), "it is compressed; allowed: the unpacked text"),
    ],
    ids=["no prefix", "compressed"],
)  # fmt: skip
def test_patches_without_prefixes_and_compressed_patches_are_refused(content, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.patch").write_bytes(content)
    with pytest.raises(ValueError, match=sentence):
        patches_in(content)
    with pytest.raises(ValueError, match=rf"patches\[0\] is a.patch; {sentence}"):
        completed_kernel({"base": "newest", "patches": ["a.patch"]})


def test_renames_and_modes_apply(repository, tmp_path, monkeypatch):
    """These changes have no lines --- and +++, unless a renamed file also changes."""
    git_history.git(repository, "mv", "net/a.c", "net/b.c")
    git_history.commit(repository, {}, "net: rename")
    (repository / "scripts/run.sh").chmod(0o755)
    git_history.commit(repository, {}, "scripts: run it")
    git_history.git(repository, "mv", "net/b.c", "net/c.c")
    git_history.commit(repository, {"net/c.c": "one\n" * 8 + "two\n"}, "net: rename and change")
    mails = git_history.mails(repository, 3)
    source = tmp_path / "source"
    git_history.git(repository, "worktree", "add", "--quiet", source, "HEAD~3")
    files = kernels.patch_files([mails], source)
    assert len(files) == 3
    apply_by_recipe("guest/patch_own", files.values(), source)
    assert not (source / "net/a.c").exists() and not (source / "net/b.c").exists()
    assert (source / "net/c.c").read_text() == "one\n" * 8 + "two\n"
    assert (source / "scripts/run.sh").stat().st_mode & 0o111
    (tmp_path / "series.mbox").write_bytes(mails)
    (tmp_path / "one.patch").write_bytes(next(iter(files.values())))
    monkeypatch.chdir(tmp_path)
    assert completed_kernel({"base": "newest", "patches": ["series.mbox", "one.patch"]})


@pytest.mark.parametrize("of_message", [True, False], ids=["in the message", "after the change"])
def test_a_diff_that_a_mail_quotes_is_not_applied(repository, tmp_path, of_message):
    """GNU patch removes the indentation of a diff in a commit's message or of an interdiff, and would apply it."""
    of_file = PATCH.replace("net/ipv4/tcp_cong.c", "net/a.c").replace("-old", "-one")
    quoted = "".join(f"    {line}\n" for line in of_file.splitlines())
    message = f"net: a\n\nThis failed:\n\n{quoted}" if of_message else "net: a"
    git_history.commit(repository, {"net/a.c": "one\n" * 8 + "two\n"}, message)
    mails = git_history.mails(repository, 1)
    if not of_message:
        mails = mails.replace(b"\n-- \n", f"\n\nInterdiff against v1:\n{quoted}\n-- \n".encode())
    assert mails.count(b"+++ b/net/a.c") == 2
    source = tmp_path / "source"
    git_history.git(repository, "worktree", "add", "--quiet", source, "HEAD~1")
    apply_by_recipe("guest/patch_own", kernels.patch_files([mails], source).values(), source)
    assert (source / "net/a.c").read_text() == "one\n" * 8 + "two\n"


def test_changes_without_text_stay_whole(repository):
    files = {"net/a.c": "one\n" * 30 + "two", "net/b.c": "", "net/c.c": "-- \n+++ a\n--- b\n", "net/f.c": "\f\n"}
    git_history.commit(repository, files, "net: more")
    git_history.git(repository, "mv", "net/a.c", "net/d.c")
    files = {
        "net/d.c": "\n" + "one\n" * 30 + "\nthree\n",
        "net/c.c": "--- b\n",
        "net/e.c": "\0\1\2" * 99,
        "net/b.c": None,
    }
    git_history.commit(repository, files, "net: all kinds")
    git_history.git(repository, "mv", "net/f.c", "net/g.c")
    (repository / "net/d.c").chmod(0o755)
    git_history.commit(repository, {}, "net: a rename and a mode alone")
    for commit in ("HEAD", "HEAD~1", "HEAD~2"):
        diff = git_history.git(repository, "diff", "--binary", f"{commit}~1", commit).encode() + b"\n"
        parts = kernels.parts_of(diff)[1:]
        assert len(parts) > 1 and [kernels.without_text(part) for part in parts] == parts


def test_changes_to_drivers_whose_source_was_removed_are_left_away(repository, tmp_path):
    """In a base's tree, folders of drivers that guests don't have contain only the files that control the build."""
    makefile = str(Path(ETHERNET).with_name("Makefile"))
    source = tmp_path / "source"
    for path in ("net/a.c", "drivers/net/loopback.c"):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text("one\n" * 9)
    (source / makefile).parent.mkdir(parents=True)
    (source / makefile).write_text("one\n" * 9)
    git_history.commit(repository, {makefile: "one\n" * 9, "drivers/net/loopback.c": "one\n" * 9}, "Go on")
    git_history.commit(repository, dict.fromkeys(("net/a.c", ETHERNET, makefile, "drivers/net/loopback.c"), "two\n"), "net: all")  # fmt: skip
    files = kernels.patch_files([git_history.mails(repository, 1)], source)
    apply_by_recipe("guest/patch_own", files.values(), source)
    assert {path.read_text() for path in source.rglob("*") if path.is_file()} == {"two\n"}
    assert not (source / ETHERNET).exists()


def test_which_patch_of_a_series_does_not_apply_is_said():
    kernel = {"version": "7.2", "patches": [{"path": "a.patch"}, {"path": "series.mbox"}]}
    failed = "patching file net/x.c\nHunk #2 FAILED at 7.\n1 out of 2 hunks FAILED\n"
    words = f"==> apply 000.patch\npatching file net/x.c\n==> apply 001-001.patch\n==> apply 001-002.patch\n{failed}"
    assert build_words.why_not_built(words, {}, kernel) == (
        "series.mbox, patch 2 of the series, does not apply to Linux 7.2: hunk 2 of net/x.c."
    )
    renamed = failed.replace("net/x.c\n", "net/x.c (renamed from net/w.c)\n")
    alone = build_words.why_not_built(f"==> apply 000.patch\n{renamed}", {}, kernel)
    assert alone == "a.patch does not apply to Linux 7.2: hunk 2 of net/x.c."
    alone = build_words.why_not_built(f"==> apply 000.patch\n{failed}", {}, kernel)
    assert alone == "a.patch does not apply to Linux 7.2: hunk 2 of net/x.c."
    missing = "==> apply 000.patch\ncan't find file to patch at input line 3\n|--- net/x.c.orig\n|+++ net/x.c\n"
    assert build_words.why_not_built(missing, {}, kernel) == (
        "a.patch does not apply to Linux 7.2: x.c.orig is not there."
    )
    comma = missing.replace("x.c.orig", "qcom,a.h")
    assert build_words.why_not_built(comma, {}, kernel) == (
        "a.patch does not apply to Linux 7.2: qcom,a.h has a name that is not supported; allowed: letters, digits and _.+@=-/."
    )
    moved = "==> apply 000.patch\nCannot rename file without two valid file names.\n"
    assert build_words.why_not_built(moved, {}, kernel) == (
        "a.patch does not apply to Linux 7.2: it moves a file that the source of guest kernels doesn't contain."
    )


#: What GCC 12 wrote about two patches to tcp_cubic.c, which have no counts in the profile.
OF_PROFILE = r"""
In file included from /build/source/include/linux/compiler_types.h:88,
                 from <command-line>:
/build/source/include/linux/module.h:283:46: warning: Missing counts for called function bictcp_update/8546
  283 |                 __aligned(__alignof__(struct module_version_attribute)) \
      |                                              ^~~~~~~~~~~~~~~~~~~~~~~~
/build/source/include/linux/compiler_attributes.h:33:68: note: in definition of macro '__aligned'
   33 | #define __aligned(x)                    __attribute__((__aligned__(x)))
      |                                                                    ^
/build/source/net/ipv4/tcp_cubic.c:559:1: note: in expansion of macro 'MODULE_VERSION'
  559 | MODULE_VERSION("2.3");
      | ^~~~~~~~~~~~~~
"""
OF_PERSON = """
/build/source/net/ipv4/tcp_cubic.c: In function 'bictcp_update':
/build/source/net/ipv4/tcp_cubic.c:219:13: warning: unused variable 'x' [-Wunused-variable]
  219 |         int x;
      |             ^
"""


@pytest.mark.parametrize(
    "order", [(OF_PROFILE, OF_PERSON), (OF_PERSON, OF_PROFILE), (OF_PROFILE, OF_PERSON, OF_PROFILE)]
)
def test_warnings_of_a_build_concern_the_persons_code(order):
    words = (
        "==> build\n  CC      net/ipv4/tcp_cubic.o\n"
        + "".join(text.lstrip("\n") for text in order)
        + "  LINK    linux\n"
    )
    assert build_words.warnings_in(words) == OF_PERSON.strip()


def test_a_build_without_warnings_says_nothing():
    assert build_words.warnings_in("==> build\n  CC      net/ipv4/tcp_cubic.o\n" + OF_PROFILE.lstrip("\n")) == ""
