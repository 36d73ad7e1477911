"""Patch series as mail: decoded, in order, without cover letters and replies."""

import quopri
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path

import pytest

import git_history
from study_files.kernels import completed_kernel
from study_files.patch_mails import mbox_of, patches_in

FROM = b"From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n"


def change(number):
    return f"Words.\n---\n net/a{number}.c | 2 +-\n\ndiff --git a/net/a{number}.c b/net/a{number}.c\n--- a/net/a{number}.c\n+++ b/net/a{number}.c\n@@ -1 +1 @@\n-a\n+b = \u00e9\n-- \n2.39.5\n\n"  # fmt: skip


def mail(subject, text, encoding="8bit"):
    body = text.encode()
    if encoding == "base64":
        body = b"\n".join(b64encode(body)[at : at + 76] for at in range(0, len(b64encode(body)), 76)) + b"\n\n"
    elif encoding == "quoted-printable":
        body = quopri.encodestring(body)
    head = f"From: A Person <a@example.org>\nDate: Thu, 1 Jan 2026 00:00:00 +0000\nSubject: {subject}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: {encoding}\n\n"  # fmt: skip
    return FROM + head.encode() + body


def changed(patches):
    return [line for patch in patches for line in patch.decode().splitlines() if line.startswith("+++ ")]


@pytest.mark.parametrize("encoding", ["8bit", "base64", "quoted-printable"])
def test_mails_are_decoded(encoding):
    content = mail("[PATCH 1/2] net: a", change(1), encoding) + mail("[PATCH 2/2] net: b", change(2), encoding)
    first, second = patches_in(content)
    assert (first.decode().rstrip("\n"), second.decode().rstrip("\n")) == (
        change(1).rstrip("\n"),
        change(2).rstrip("\n"),
    )


def test_the_order_is_the_series_and_letters_are_left_out():
    letter = mail("[PATCH v2 net-next 0/3] net: all", "What it does.\n\nFrom here on, nothing.\n")
    answer = mail("Re: [PATCH v2 net-next 2/3] net: b", f"> quoted\n{change(2)}")
    mails = [mail(f"[PATCH v2 net-next {number}/3]\n net: {number}", change(number)) for number in (3, 1, 2)]
    assert changed(patches_in(b"".join([letter, *mails, answer]))) == [f"+++ b/net/a{number}.c" for number in (1, 2, 3)]


@pytest.mark.parametrize("total", [1, 2])
def test_a_cover_letter_with_a_diff_is_no_patch(total):
    mails = [mail(f"[PATCH {number}/{total}] net: {number}", change(number)) for number in range(total + 1)]
    assert changed(patches_in(b"".join(mails))) == [f"+++ b/net/a{number}.c" for number in range(1, total + 1)]


@pytest.mark.parametrize(
    "subject",
    [
        "[PATCH {}/3] net",
        "[PATCHv2 {}/3] net",
        "[RFC PATCHv3 net-next {}/3] net",
        "[RFC][PATCH {}/3] net",
        "[net-next,v2,{}/3] net",
        "[PATCH net-next v2 0{}/03] net: 2026/11/25",
        "=?utf-8?q?=5BPATCH_net-next_{}/3=5D_net=3A_=C3=A9?=",
        "=?utf-8?q?=5BPATCH_net-next?=\n =?utf-8?q?_{}/3=5D_net=3A_=C3=A9?=",
        "[PATCH {}/3] net: =?utf-8?b?bad?=",
        "[PATCH {}/3] net: =?no-charset?q?=E9?=",
        "[PATCH {}/3] net: \u00e9",
    ],
)
def test_the_number_in_a_subject_is_read(subject):
    """Subjects may be encoded, as b4 encodes them, and have tags of several forms."""
    mails = [mail(subject.format(number), change(number)) for number in (2, 3, 1)]
    assert changed(patches_in(b"".join(mails))) == [f"+++ b/net/a{number}.c" for number in (1, 2, 3)]
    with pytest.raises(ValueError, match="a series without 1"):
        patches_in(b"".join(mails[:2]))
    with pytest.raises(ValueError, match="mails of several series"):
        patches_in(b"".join([*mails, mail("[PATCH v4 1/3] net", change(1))]))


def test_numbers_outside_the_tags_do_not_count():
    mails = [mail(f"[PATCH] net: a 2/{number} [PATCH 2/3]", change(number)) for number in (2, 1)]
    assert changed(patches_in(b"".join(mails))) == ["+++ b/net/a2.c", "+++ b/net/a1.c"]


def test_an_encoded_reply_is_no_patch():
    answer = mail("=?utf-8?q?Re=3A_=5BPATCH_1/1=5D_=C3=A9?=", change(2))
    assert changed(patches_in(mail("[PATCH 1/1] a", change(1)) + answer)) == ["+++ b/net/a1.c"]


def test_a_mail_without_a_line_that_begins_an_mbox_gets_one():
    """Then lines of its text that begin with From don't begin a mail."""
    text = f"From a@b Mon Jan 1 00:00:00\nSubject: x\n\n>From b\n{change(1)}"
    whole = mail("[PATCH 1/2] a", text).removeprefix(FROM)
    (first, second) = patches_in(mbox_of(whole) + mbox_of(mail("[PATCH 2/2] b", change(2)).replace(b"\n", b"\r\n")))
    assert first.decode().startswith(text) and changed([second]) == ["+++ b/net/a2.c"]
    assert mbox_of(change(1).encode()) is None


def test_one_patch_of_a_series_may_be_a_file():
    assert changed(patches_in(mail("[PATCH 3/7] net: c", change(3)))) == ["+++ b/net/a3.c"]
    assert changed(patches_in(mail("[PATCH 3/7] net: c", change(3)).replace(b"\n", b"\r\n"))) == ["+++ b/net/a3.c"]
    with pytest.raises(ValueError, match="a series without 1, 2, 4, 5, 6, 7"):
        patches_in(mail("[PATCH 3/7] net: c", change(3)), is_whole=True)
    assert len(patches_in(mail("[PATCH 1/1] net: c", change(3)), is_whole=True)) == 1


def test_what_is_no_mail_is_left_as_it_is():
    for content in (change(1).encode(), b"--- a/x\r\n+++ b/x\r\n", b"\xff\0", b""):
        assert patches_in(content) == [content]


@pytest.mark.parametrize(
    "subjects, sentence",
    [
        (("[PATCH 1/3] a", "[PATCH 3/3] c"), "a series without 2; allowed: a series without gaps"),
        (("[PATCH 1/2] a", "[PATCH v2 1/2] a"), "mails of several series (v1 of 2; v2 of 2); allowed: one"),
        (("[PATCHv2 1/2] a", "[PATCHv3 2/2] a"), "mails of several series (v2 of 2; v3 of 2)"),
        (("[PATCH 1/2] a", "[PATCH 1/2] a"), "a series with a duplicate number"),
        (("[PATCH] a", "[PATCH v2] a"), 'it has several versions of "a"; allowed: one'),
        (("[PATCH net 1/1] a", "[PATCH v2 net] a"), 'it has several versions of "a"; allowed: one'),
    ],
)
def test_a_series_is_whole(subjects, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("series.mbox").write_bytes(b"".join(mail(subject, change(place)) for place, subject in enumerate(subjects)))
    with pytest.raises(ValueError) as raised:
        completed_kernel({"base": "newest", "patches": ["series.mbox"]})
    assert str(raised.value).startswith("patches[0] is series.mbox; it ") and sentence in str(raised.value)


def test_what_git_format_patch_writes_applies(tmp_path):
    """This includes a patch that changes what an earlier one added, and a log with a line that begins with From."""
    repository = git_history.repository(tmp_path / "linux")
    git_history.commit(repository, {"net/a.c": "one\ntwo\nthree\n"}, "Begin")
    git_history.git(repository, "tag", "begin")
    git_history.commit(
        repository, {"net/a.c": "one\n2\nthree\n", "net/b.c": "new\n"}, "net: a\n\nFrom here on it is shorter."
    )
    git_history.commit(repository, {"net/a.c": "one\n2\n3 = \u00e9\n", "net/b.c": "newer\n"}, "net: b \u00e9")
    written = git_history.git(repository, "format-patch", "--stdout", "--cover-letter", "begin")
    patches = patches_in(written.encode())
    assert len(patches) == 2
    git_history.git(repository, "checkout", "--quiet", "begin")
    for patch in patches:
        subprocess.run(["patch", "--force", "--strip=1", "--fuzz=0"], input=patch, cwd=repository, check=True, capture_output=True)  # fmt: skip
    assert (repository / "net/a.c").read_text() == "one\n2\n3 = \u00e9\n" and (
        repository / "net/b.c"
    ).read_text() == "newer\n"
    assert shutil.which("patch")
