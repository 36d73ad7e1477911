"""How `make selftests KERNEL=...` names kernels, and its messages for invalid names."""

import pytest

from kernel_tests.named_kernel import KernelNameError, named_kernel
from kernel_tests.run_selftests import SelftestsError, chosen
from study_files.kernels import bases

NEWEST = "7.2.13-1"
DIFF = "--- a/net/ipv4/tcp.c\n+++ b/net/ipv4/tcp.c\n@@ -1 +1 @@\n-a\n+b\n"


def test_the_image_s_own():
    for given in ("", "newest", "7.2"):
        found = named_kernel(given, NEWEST)
        assert (found.name, found.is_own, found.identity("0" * 64)) == (NEWEST, False, None)


def test_another_of_debians():
    found = named_kernel("6.12", NEWEST)
    assert found.name == bases()["6.12"]["version"]
    assert found.kernel["base"] == "6.12" and found.is_own
    assert len(found.identity("0" * 64)) == 16


def test_a_patch_a_c_file_and_a_yaml_file(tmp_path, root):
    (tmp_path / "my series.patch").write_text(DIFF)
    patched = named_kernel(f"{tmp_path}/my series.patch", NEWEST)
    assert patched.name == "7.2.13-1-my-series"
    assert [patch["path"] for patch in patched.kernel["patches"]] == [f"{tmp_path}/my series.patch"]
    compiled = named_kernel(str(root / "examples/tcp_aimd.c"), NEWEST)
    assert compiled.kernel is None and [one.module for one in compiled.sources] == ["tcp_aimd"]
    (tmp_path / "tls.yaml").write_text('base: "6.12"\nconfig: {TLS: y}\n')
    written = named_kernel(f"{tmp_path}/tls.yaml", NEWEST)
    assert written.name == "tls" and written.kernel["config"] == {"TLS": "y"}
    assert len({one.identity("0" * 64) for one in (patched, compiled, written)}) == 3


@pytest.mark.parametrize(
    "given, sentence",
    [
        ("6.13", "KERNEL=6.13: there is no such kernel; allowed: 6.1, 6.12, 7.2, or the path"),
        ("./no-tree", "there is no such kernel"),
        ("no.patch", "patches[0] is no.patch; there is no such file"),
        ("no.c", "there is no such file"),
        ("no.yaml", "can't be read"),
        ("setup", "setup/Makefile: no such file"),
    ],
)
def test_other_names_are_one_sentence(given, sentence, root, monkeypatch):
    monkeypatch.chdir(root)
    with pytest.raises(KernelNameError) as raised:
        named_kernel(given, NEWEST)
    assert sentence in str(raised.value) and "\n" not in str(raised.value)


def test_a_yaml_file_is_checked_as_a_study_s_kernel(tmp_path):
    (tmp_path / "mine.yaml").write_text("base: newest\npatch: [a.patch]\n")
    with pytest.raises(KernelNameError, match="patch"):
        named_kernel(f"{tmp_path}/mine.yaml", NEWEST)
    (tmp_path / "mine.yaml").write_text("base: newest\n")
    with pytest.raises(KernelNameError, match="is the image's kernel; allowed: newest, the name of this kernel"):
        named_kernel(f"{tmp_path}/mine.yaml", NEWEST)


COMMANDS = [["tcp_a.pkt", "1"], ["tcp_a.pkt", "2"], ["tcp_b.pkt", "1"]]


def test_scripts_by_a_glob():
    assert chosen(COMMANDS, "*") == COMMANDS
    assert chosen(COMMANDS, "tcp_a") == chosen(COMMANDS, "*_a.pkt") == COMMANDS[:2]
    with pytest.raises(SelftestsError, match=r"ONLY=udp_b matches none of 2 scripts .*tcp_b"):
        chosen(COMMANDS, "udp_b")
