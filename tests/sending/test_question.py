"""The arguments of `make series`: series in all forms, kernels, and the CCAs that a series affects."""

import pytest

from sending.question import SeriesError, question_of
from sending.touched import DEFAULT, touched_by

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


def test_patches_of_the_base_come_first(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.patch").write_text(DIFF.format(path="net/ipv4/tcp.c"))
    (tmp_path / "base.yaml").write_text("{base: '6.12', patches: [first.patch], config: {HZ: 250}}")
    question = asked(folder, base="base.yaml")
    question.write_patches()
    assert question.kernel() == {"base": "6.12", "config": {"HZ": 250}, "patches": ["first.patch", *question.files]}


@pytest.mark.parametrize(
    "series, base, ccas, said",
    [
        ([], "7.2", (), "SERIES: it is missing; allowed: an mbox or patches"),
        (["a.patch"], "", (), "BASE: it is missing"),
        (["nothing.mbox"], "7.2", (), "SERIES=nothing.mbox: there is no such file; allowed: an mbox"),
        (["text.txt"], "7.2", (), "SERIES=text.txt: it changes no file; allowed: an mbox"),
        (["empty"], "7.2", (), "SERIES=empty: the folder has no file that ends with .patch"),
        (["gap.mbox"], "7.2", (), "SERIES=gap.mbox: it is a series without 2; allowed: a series without gaps"),
        (["a.patch"], "5.0", (), "BASE=5.0: there is no such kernel; allowed: 6.1, 6.12, 7.2"),
        (["a.patch"], "7.2", ("cubik",), "CCAS=cubik: it is not a CCA of the guest kernel; did you mean 'cubic'?"),
    ],
)
def test_what_is_wrong_is_said(series, base, ccas, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.patch").write_text(DIFF.format(path="net/ipv4/tcp_cubic.c"))
    (tmp_path / "text.txt").write_text("no patch\n")
    (tmp_path / "empty").mkdir()
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
        (["net/ipv4/tcp_cong.c"], DEFAULT),
        (["include/net/tcp.h"], DEFAULT),
        # A CCA that the guest kernel doesn't have.
        (["net/ipv4/tcp_mine.c"], DEFAULT),
        (["net/ipv4/tcp_ipv4.c"], DEFAULT),
        (["tools/testing/selftests/net/packetdrill/tcp_close.pkt"], ()),
    ],
)
def test_files_tell_which_ccas_are_touched(paths, ccas):
    assert touched_by(paths).ccas == ccas


def test_ccas_of_the_call_take_the_place_of_those_touched(folder):
    touched = asked(folder, ccas=("reno", "reno", "bbr")).touched
    assert touched.ccas == ("reno", "bbr") and "CCAS" in touched.why
