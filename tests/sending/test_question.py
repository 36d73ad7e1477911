"""The arguments of `make series`: series in all forms, kernels, and the CCAs that a series affects."""

import argparse
import re
import sys
from pathlib import Path

import pytest

import git_history
from kernel_tests.named_kernel import named_kernel
from sending import studies
from sending.before_sending import _command
from sending.question import SeriesError, question_of
from sending.touched import DEFAULT, NO_CCA, NO_DRIVER, OF_CCA, touched_by
from session.candidate import kernels_ccas
from study_files.patch_mails import patches_in
from study_files.study_schema import study_schema

sys.path.append(str(Path(__file__).resolve().parents[2] / "setup"))

import kernels  # noqa: E402

NEWEST = "7.2.13-1"
DIFF = """diff --git a/{path} b/{path}
--- a/{path}
+++ b/{path}
@@ -1,2 +1,3 @@
 one
+two
 three
"""
MAIL = """From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001
From: A Person <a@example.org>
Date: Thu, 1 Jan 2026 00:00:00 +0000
Subject: [PATCH {number}] {subject}

Why.
---
{diff}--
2.39.5

"""


def mail(number, path=None):
    return MAIL.format(number=number, subject=f"patch {number}", diff=DIFF.format(path=path) if path else "")


def asked(*series, base="7.2", ccas=()):
    return question_of([str(path) for path in series], base, NEWEST, ccas)


@pytest.fixture
def folder(tmp_path):
    """A folder as `git format-patch --cover-letter` writes it."""
    folder = tmp_path / "my series"
    folder.mkdir()
    (folder / "0000-cover-letter.patch").write_text(mail("0/2"))
    (folder / "0001-one.patch").write_text(mail("1/2", "net/ipv4/tcp_bbr.c"))
    (folder / "0002-two.patch").write_text(mail("2/2", "net/ipv4/tcp_vegas.c"))
    return folder


def test_a_folder_an_mbox_and_patches_are_the_same_series(folder, tmp_path):
    mbox = tmp_path / "series.mbox"
    mbox.write_text("".join(file.read_text() for file in sorted(folder.iterdir())))
    of_folder, of_mbox, of_files = asked(folder), asked(mbox), asked(*sorted(folder.iterdir()))
    assert of_folder.number == of_mbox.number == of_files.number == 2
    assert of_folder.touched == of_mbox.touched == of_files.touched
    assert of_folder.sha256 == of_files.sha256
    assert of_folder.touched.paths == ("net/ipv4/tcp_bbr.c", "net/ipv4/tcp_vegas.c")


def test_names_follow_series_and_base(folder):
    first = asked(folder).name
    assert first.startswith("my-series-") and asked(folder).name == first
    assert asked(folder, base="6.12").name != first
    (folder / "0002-two.patch").write_text(mail("2/2", "net/ipv4/tcp_veno.c"))
    assert asked(folder).name != first


def test_a_plain_diff_is_a_series_of_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "change.diff").write_text(DIFF.format(path="net/ipv4/tcp_cubic.c"))
    question = asked("change.diff")
    question.write_patches()
    kernel = question.patched().kernel
    assert [patch["path"] for patch in kernel["patches"]] == question.files
    assert (tmp_path / question.files[0]).read_text() == DIFF.format(path="net/ipv4/tcp_cubic.c")


def test_mails_without_the_first_line_of_an_mbox_are_a_series(folder):
    of_mbox = asked(folder)
    for file in folder.iterdir():
        file.write_text(file.read_text().partition("\n")[2])
    (folder / "0001-one.patch").rename(folder / "0003-one.patch")
    question = asked(folder)
    assert list(question.patches) == ["series.mbox"]
    assert question.touched == of_mbox.touched and question.number == 2
    first, second = patches_in(question.patches["series.mbox"])
    assert b"tcp_bbr.c" in first and b"tcp_vegas.c" in second
    (folder / "0002-two.patch").unlink()
    with pytest.raises(SeriesError, match="it is a series without 2"):
        asked(folder)


def test_a_folder_of_mails_as_b4_sends_them(folder):
    """`b4 send -o` writes files without the first line of an mbox."""
    of_patches = asked(folder)
    for file in sorted(folder.iterdir()):
        file.with_suffix(".eml").write_text(file.read_text().partition("\n")[2])
        file.unlink()
    assert asked(folder).touched == of_patches.touched and asked(folder).number == 2
    assert named_kernel(f"{folder}/0001-one.eml", NEWEST).is_own


def test_renames_and_modes_are_changes(tmp_path):
    rename = "diff --git a/net/ipv4/tcp_bbr.c b/net/ipv4/tcp_bbr.h\nsimilarity index 100%\nrename from net/ipv4/tcp_bbr.c\nrename to net/ipv4/tcp_bbr.h\n"
    mode = "diff --git a/net/ipv4/tcp_vegas.c b/net/ipv4/tcp_vegas.c\nold mode 100644\nnew mode 100755\n"
    texts = [MAIL.format(number=f"{number}/2", subject="net", diff=diff) for number, diff in ((1, rename), (2, mode))]
    (tmp_path / "series.mbox").write_text("".join(texts))
    question = asked(tmp_path / "series.mbox")
    assert question.number == 2 and question.touched.ccas == ("bbr", "vegas", "yeah")


def test_a_public_text_names_no_folder_above_the_base(folder, tmp_path, monkeypatch):
    """The command names the commit, because a branch moves."""
    tree = git_history.repository(tmp_path / "secret/linux")
    makefile = "VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 0\nEXTRAVERSION =\n"
    commit = git_history.commit(
        tree, {"Makefile": makefile, "arch/um/Kconfig": "config UML_TIME_TRAVEL_SUPPORT\n"}, "a"
    )
    (tmp_path / "secret/my.patch").write_text(DIFF.format(path="net/ipv4/tcp.c"))
    (tmp_path / "secret/base.yaml").write_text(f"{{tree: {tree}, revision: main, patches: [secret/my.patch]}}")
    (folder / "secret").mkdir()
    (folder / "secret/my.patch").write_text(DIFF.format(path="net/ipv4/tcp.c"))
    monkeypatch.chdir(folder)

    def command(given, series="."):
        return _command(argparse.Namespace(series=[series], base=given, packetdrill=None, ccas=[]), asked(series, base=given).base.kernel)  # fmt: skip

    head = "make series 'SERIES=my series' BASE="
    assert command(f"{tree}@main") == command("../secret/linux/@main") == f"{head}../linux@{commit[:12]}"
    assert command(f"{tree}") == f"{head}../linux"
    assert command(f"{tmp_path}/secret/base.yaml", f"{folder}") == f"{head}base.yaml"
    assert command(f"{tmp_path}/secret/my.patch") == f"{head}my.patch"
    assert command("7.2") == f"{head}7.2" and command("6.12") == f"{head}6.12"
    words = asked(folder, base=f"{tmp_path}/secret/base.yaml").base_words
    assert words == f"linux (7.2.0-g{commit[:12]}), my.patch"
    assert asked(folder).base_words == "Linux 7.2.13-1, the image's"


def test_patches_of_the_base_come_first(folder, tmp_path, monkeypatch):
    """They are copied, because a study can name only patches below its folder."""
    (checkout := tmp_path / "checkout").mkdir()
    monkeypatch.chdir(checkout)
    Path("../my first.patch").write_text(DIFF.format(path="net/ipv4/tcp.c"))
    Path("base.yaml").write_text("{base: '6.12', patches: [first.patch], config: {HZ: 250}}")
    Path("first.patch").write_text(DIFF.format(path="net/ipv4/tcp.c"))
    for base, name, keys in (("../my first.patch", "my-first", {"base": "newest"}), ("base.yaml", "first", {"base": "6.12", "config": {"HZ": 250}})):  # fmt: skip
        question = asked(folder, base=base)
        question.write_patches()
        copy = f"{question.folder}/patches/base-000-{name}.patch"
        assert question.kernel() == {**keys, "patches": [copy, *question.files]}
        assert Path(copy).read_text() == DIFF.format(path="net/ipv4/tcp.c")
        assert question.patched().kernel["patches"][0]["sha256"] == question.base.kernel["patches"][0]["sha256"]
        both = studies.kernels(question, ["cubic"])
        assert both["base"]["patches"] == [copy] and both["series"]["patches"] == [copy, *question.files]
        form = study_schema()["$defs"]["patch"]["pattern"]
        assert all(re.search(form, path) for path in both["series"]["patches"])


def test_a_tree_that_no_study_can_name_is_refused_at_once(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tree = git_history.repository(tmp_path / "a b/linux")
    git_history.commit(tree, {"Makefile": "VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 0\n", "arch/um/Kconfig": "config UML_TIME_TRAVEL_SUPPORT\n"}, "a")  # fmt: skip
    with pytest.raises(SeriesError, match=r"BASE=a b/linux@main: a study can't name this path; allowed"):
        asked(folder, base="a b/linux@main")
    Path("linux").symlink_to("a b/linux")
    assert asked(folder, base="linux@main").base.kernel["tree"] == "linux"


@pytest.mark.parametrize(
    "series, base, ccas, said",
    [
        ([], "7.2", (), "SERIES: it is missing; allowed: an mbox or patches"),
        (["a.patch"], "", (), "BASE: it is missing"),
        (["nothing.mbox"], "7.2", (), "SERIES=nothing.mbox: there is no such file; allowed: an mbox"),
        (
            ["my", "series"],
            "7.2",
            (),
            "SERIES=my: there is no such file; allowed: an mbox or patches, as git format-patch and b4 write them, or a folder of patches; "
            "several paths are separated by spaces",
        ),
        (["text.txt"], "7.2", (), "SERIES=text.txt: it changes no file; allowed: an mbox"),
        (["empty"], "7.2", (), "SERIES=empty: the folder has no file that ends with .patch"),
        (["gap.mbox"], "7.2", (), "SERIES=gap.mbox: it is a series without 2; allowed: a series without gaps"),
        (["first.mbox"], "7.2", (), "SERIES=first.mbox: it is a series without 2, 3; allowed: a series without gaps"),
        (
            ["a.patch", "first.mbox"],
            "7.2",
            (),
            "SERIES=a.patch: it is a plain diff, but other files of the series are mails; allowed: only mails",
        ),
        (
            ["a.patch"],
            "image.yaml",
            (),
            "BASE=image.yaml: image is the image's kernel; allowed: newest, the name of this kernel",
        ),
        (["a.patch"], "5.0", (), "BASE=5.0: there is no such kernel; allowed: 6.1, 6.12, 7.2"),
        (["a.patch"], "7.2", ("cubik",), "CCAS=cubik: it is not a CCA of the guest kernel; did you mean 'cubic'?"),
    ],
)
def test_what_is_wrong_is_said(series, base, ccas, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.patch").write_text(DIFF.format(path="net/ipv4/tcp_cubic.c"))
    (tmp_path / "text.txt").write_text("no patch\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "image.yaml").write_text("base: newest\n")
    (tmp_path / "first.mbox").write_text(mail("1/3", "net/ipv4/tcp.c"))
    (tmp_path / "gap.mbox").write_text(mail("1/3", "net/ipv4/tcp.c") + mail("3/3", "net/ipv4/tcp.c"))
    with pytest.raises(SeriesError) as error:
        question_of(series, base, NEWEST, ccas)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    "paths, ccas",
    [
        (["net/ipv4/tcp_bbr.c"], ("bbr",)),
        (["net/ipv4/tcp_dctcp.c", "net/ipv4/tcp_dctcp.h"], ("dctcp",)),
        # tcp_yeah.c calls functions of tcp_vegas.c.
        (["net/ipv4/tcp_vegas.c"], ("vegas", "yeah")),
        (["net/ipv4/tcp_cubic.c", "Documentation/networking/ip-sysctl.rst"], ("cubic",)),
        (["net/ipv4/tcp_cubic.c", "net/ipv4/tcp_input.c"], DEFAULT),
        (["net/ipv4/tcp_dctcp.c", "net/ipv4/tcp_bbr.c", "include/net/tcp.h"], ("dctcp", "bbr", "cubic", "reno")),
        (["net/ipv4/tcp_plb.c"], ("dctcp", *DEFAULT)),
        (["net/ipv4/tcp_cong.c"], DEFAULT),
        (["include/net/tcp.h"], DEFAULT),
        # A CCA that the guest kernel doesn't have.
        (["net/ipv4/tcp_mine.c"], DEFAULT),
        (["net/ipv4/tcp_ipv4.c"], DEFAULT),
        (["tools/testing/selftests/net/packetdrill/tcp_close.pkt"], ()),
        (["drivers/net/ethernet/chelsio/chtls_cm.c", "drivers/infiniband/core/cm.c"], ()),
        (["drivers/net/ethernet/chelsio/chtls_cm.c", "net/ipv4/tcp_bbr.c"], ("bbr",)),
        (["drivers/net/tun.c"], DEFAULT),
    ],
)
def test_files_tell_which_ccas_are_touched(paths, ccas):
    assert touched_by(paths).ccas == ccas


def test_a_cca_that_guests_do_not_have_is_named():
    for path in ("net/ipv4/tcp_mine.c", "net/ipv4/tcp_my_own.c"):
        touched = touched_by(["net/ipv4/Kconfig", path])
        words = f"A CCA in {path} is not run, because guest kernels don't have it."
        assert words in touched.why and words in touched.with_ccas(["cubic"]).why
    for paths in (["net/ipv4/tcp_ipv4.c"], ["net/ipv4/tcp_plb.c", "net/ipv4/tcp_bbr.c"], ["net/sched/sch_cake.c"]):
        assert "is not run" not in touched_by(paths).why
    assert "only cubic, reno and bbr are examined" in touched_by(["net/sched/sch_cake.c"]).why
    of_both = touched_by(["net/ipv4/tcp_vegas.c", "net/ipv4/sysctl_net_ipv4.c"]).why
    assert (
        "changes net/ipv4/sysctl_net_ipv4.c, which may affect every CCA; of all CCAs, only vegas, yeah, cubic, reno and bbr"
        in of_both
    )
    assert "yeah calls functions in this code" in of_both


def test_files_are_those_of_the_image():
    """Each file of TCP is known, and drivers that guests don't have are those whose source was removed."""
    source = kernels.provide_compiler() / "root/build/source"
    known = {*kernels_ccas(), *NO_CCA}
    names = {OF_CCA.fullmatch(f"net/ipv4/{path.name}")[1] for path in source.glob("net/ipv4/tcp_*.[ch]")}
    assert len(names) > 20 and names <= known
    for folder in (*source.glob("drivers/*/"), *source.glob("drivers/net/*/")):
        path = f"{folder.relative_to(source)}/a.c"
        assert bool(NO_DRIVER.match(path)) != any(folder.rglob("*.c")), path


def test_ccas_of_the_call_take_the_place_of_those_touched(folder):
    touched = asked(folder, ccas=("reno", "reno", "bbr")).touched
    assert touched.ccas == ("reno", "bbr") and "CCAS" in touched.why
