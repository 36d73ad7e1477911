"""The mails in upstream/um are the patches that envs/guest/patches applies, in the form that Linux requires."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from study_files.patch_mails import named_paths, patches_in

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "setup"))

import kernels  # noqa: E402

MAILS = sorted((ROOT / "upstream/um").glob("*.patch"))
#: The patches of the vDSO and of the time stamp counter are for kernels with time-travel only, and not ready to be sent.
NOT_SENT = ("0010", "0011")
PATCHES = sorted(
    path for path in (ROOT / "envs/guest/patches").glob("*-um-*.patch") if not path.name.startswith(NOT_SENT)
)
#: What mails have besides: for modules, and for kernels without time-travel, which the guest kernel is not.
MORE = {"arch/um/kernel/time.c": 1, "arch/um/kernel/signal.c": 11}


def changed_lines(content):
    """Return the changed lines of a patch: file -> lines with + and -, without the headers that name files."""
    found, path = {}, None
    for line in content.decode().splitlines():
        if match := re.match(r"\+\+\+ b/(\S+)", line):
            path = match[1]
        elif path and re.match(r"[-+](?!--|\+\+ )", line):
            found.setdefault(path, []).append(line.rstrip())
    return found


def text_of(mail):
    (text,) = patches_in(mail.read_bytes())
    return text


def test_each_patch_of_arch_um_has_its_mail():
    assert len(PATCHES) == len(MAILS) == 6
    for number, mail in enumerate(MAILS, 1):
        assert f"Subject: [PATCH {number}/{len(MAILS)}] um: " in mail.read_text()


@pytest.mark.parametrize("patch, mail", [*zip(PATCHES, MAILS, strict=True)], ids=[patch.name[:4] for patch in PATCHES])
def test_a_mail_changes_what_the_product_applies(patch, mail):
    applied, sent = changed_lines(patch.read_bytes()), changed_lines(text_of(mail))
    for path, lines in applied.items():
        rest = iter(sent[path])
        assert all(any(line == other for other in rest) for line in lines), f"{path} differs"
    more = {path: len(lines) - len(applied.get(path, [])) for path, lines in sent.items()}
    assert {path: number for path, number in more.items() if number} == (MORE if mail is MAILS[0] else {})
    assert mail is not MAILS[0] or "+int time_travel_irqs_waiting;" in sent["arch/um/kernel/time.c"]


def test_mails_say_nothing_of_this_checkout():
    for mail in MAILS:
        head = mail.read_text().partition("\n---\n")[0]
        assert "Sawtooth" not in head.partition("\n\n")[2] and "envs/" not in head
        assert max(map(len, head.splitlines()[4:])) <= 75


def test_mails_apply_to_the_products_linux_and_pass_checkpatch(tmp_path):
    """They apply to the image's source without the product's patches."""
    source = kernels.provide_compiler() / "root/build/source"
    for path in named_paths([patch.read_bytes() for patch in PATCHES] + [text_of(mail) for mail in MAILS]):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / path, tmp_path / path)
    for patch in reversed(PATCHES):
        applied = subprocess.run(["patch", "--quiet", "--strip=1", "--fuzz=0", "--reverse"], cwd=tmp_path, stdin=patch.open(), capture_output=True, text=True)  # fmt: skip
        assert applied.returncode == 0, applied.stdout
    for mail in MAILS:
        applied = subprocess.run(["patch", "--quiet", "--strip=1", "--fuzz=0"], cwd=tmp_path, input=text_of(mail), capture_output=True)  # fmt: skip
        assert applied.returncode == 0, applied.stdout
        if shutil.which("perl"):
            command = ["perl", source / "scripts/checkpatch.pl", "--no-tree", "--no-signoff", "--terse", mail]
            checked = subprocess.run(command, capture_output=True, text=True)
            assert checked.returncode == 0, checked.stdout
