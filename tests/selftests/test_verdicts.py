"""The meaning of outcomes of the kernel's own tests."""

import json

import pytest

from selftests.boot import has_spun, is_outcome, left_in, why_nothing_left
from selftests.verdicts import FAILED, NOT_FIT, PASSED, judge, last_lines, options_of, options_off

OUTCOME = {"status": 0, "seconds": 0.1, "output": "outbound sniffed packet: 0.1 S 0:0(0)\n", "warnings": []}
#: What packetdrill printed of a script with a wrong expectation.
WRONG = "inbound injected packet:  0.100000 . 1:1(0) ack 1\na.pkt:12: error handling packet: live packet field tcp_window: expected: 1 vs actual: 2\n"


@pytest.mark.parametrize(
    "change, result, reason",
    [
        ({}, PASSED, ""),
        ({"status": 1, "output": WRONG}, FAILED, "a.pkt:12: error handling packet: live packet field tcp_window"),
        ({"status": 1, "output": f"sh: 2: ethtool: not found\n{WRONG}"}, NOT_FIT, "calls the program ethtool"),
        (
            {"status": 1, "output": f"bash: line 3: iptables: command not found\n{WRONG}"},
            NOT_FIT,
            "the program iptables",
        ),
        (
            {"status": 1, "output": "assertion len >= sizeof(struct _tcp_info) failed at code.c line 148\n"},
            NOT_FIT,
            "newer",
        ),
        ({"status": 0, "output": "sh: 2: ethtool: not found\n"}, PASSED, ""),
        ({"status": None}, FAILED, "did not end within 120 s"),
        (
            {"warnings": ["WARNING: net/ipv4/tcp_input.c:9 at tcp_ack+0x1/0x2, CPU#0: packetdrill/40"]},
            FAILED,
            "tcp_ack",
        ),
        ({"warnings": ["TCP: request_sock_TCP: Possible SYN flooding"]}, PASSED, ""),
    ],
)
def test_results(change, result, reason):
    found = judge(OUTCOME | change, "", {"NET_SCH_FQ"})
    assert found[0] == result
    assert reason in found[1] and bool(reason) == bool(found[1])


def test_a_guest_that_left_nothing_has_failed():
    assert judge({"end": "the guest kernel crashed"}, "", set()) == (FAILED, "the guest kernel crashed")


def test_a_script_fails_for_an_option_only_if_that_is_off():
    failed, script = OUTCOME | {"status": 1}, "+0 setsockopt(4, SOL_TCP, TCP_ULP, ...) = 0"
    assert judge(failed, script, set()) == (NOT_FIT, "TLS is off in this kernel")
    assert judge(failed, script, {"TLS"})[0] == FAILED
    assert judge(OUTCOME, script, set())[0] == PASSED
    assert judge(failed, "// a TLS client without a socket option", set())[0] == FAILED


def test_a_script_of_an_older_packetdrill_is_not_fit():
    failed = OUTCOME | {"status": 1, "output": "a.pkt:9: error handling packet: incorrect outbound data payload\n"}
    script = "+0 sendmsg(4, {...}, MSG_ZEROCOPY) = 2"
    assert judge(failed, script, set())[0] == NOT_FIT
    assert judge(failed, f"--send_omit_free\n{script}", set())[0] == FAILED
    assert judge(failed, "+0 write(4, ..., 2) = 2", set())[0] == FAILED


def test_last_lines_are_few_and_short():
    kept = last_lines({"output": "".join(f"{number} {'x' * 1000}\n" for number in range(100))})
    assert len(kept) == 12 and kept[-1].startswith("99 ") and max(map(len, kept)) == 300


def test_options():
    kernel = options_of("CONFIG_TUN=y\n# CONFIG_TLS is not set\nCONFIG_HZ=1000\n")
    assert kernel == {"TUN", "HZ=1000"}
    assert options_off("CONFIG_HZ=1000\nCONFIG_HZ_1000=y\nCONFIG_TUN=y\nCONFIG_TCP_MD5SIG=y\n", kernel) == [
        "TCP_MD5SIG"
    ]
    assert options_off("CONFIG_HZ=250\n", kernel) == ["HZ=250"]


@pytest.mark.parametrize(
    "left",
    [
        [],
        {},
        OUTCOME | {"status": "0"},
        OUTCOME | {"seconds": None},
        OUTCOME | {"output": 1},
        OUTCOME | {"warnings": [1]},
    ],
)
def test_what_a_kernel_of_somebodys_own_leaves_is_checked(left, tmp_path):
    (tmp_path / "outcome.json").write_text(json.dumps(left))
    assert left_in(tmp_path) is None
    assert is_outcome(OUTCOME)


def test_links_are_not_followed(tmp_path):
    (tmp_path / "secret").write_text(json.dumps(OUTCOME))
    (tmp_path / "outcome.json").symlink_to(tmp_path / "secret")
    assert left_in(tmp_path) is None


@pytest.mark.parametrize(
    "status, printed, spun",
    [
        (-24, b"", True),
        (0, b"Unexpectedly lost MM child! Affected tasks will segfault.\n", True),
        (0, b"userspace - child stopped with signal 24\n", True),
        (0, b"userspace - child stopped with signal 11\n", False),
        (0, b"reboot: Power down\n", False),
    ],
)
def test_what_was_ended_for_its_cpu_time(status, printed, spun):
    assert has_spun(status, printed) == spun


def test_why_a_guest_left_nothing():
    assert "crashed; the guest's last output: Kernel panic - not syncing: BUG!" in why_nothing_left(-6, b"Kernel panic - not syncing: BUG!\n")  # fmt: skip
    assert "ended by SIGKILL" in why_nothing_left(-9, b"")
    assert why_nothing_left(0, b"reboot: Power down\n") == "the guest ended without an outcome; the guest's last output: reboot: Power down"  # fmt: skip
