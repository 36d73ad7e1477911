"""A kernel's last messages, as printed by guest kernels with a C file that crashes."""

import pytest

from testbed.machine.crash import crashed, last_words

FAULT = b"""--- traffic
[    1.300000]
Pid: 0, comm: swapper/0 Not tainted 7.2.13
RIP: 0033:aimd_ssthresh+0x0/0x40
RSP: 0000000060643718  EFLAGS: 00010293
RAX: 0000000060669320 RBX: 0000000062255a00 RCX: 000000007fffffff
Kernel panic - not syncing: Segfault with no mm
CPU: 0 UID: 0 PID: 0 Comm: swapper/0 Not tainted 7.2.13 #349ccccb3062b9e2 VOLUNTARY
Stack:
 60128a70 62255a00 6064384c 62255a00
Call Trace:
 [<60128a70>] ? tcp_enter_recovery+0x190/0x200
 [<60128df1>] ? tcp_fastretrans_alert+0x311/0x490
 [<600bf9da>] ? tcp_ack.cold+0xbe0/0x1341
 [<601330b0>] ? raw_local_deliver+0x0/0xb0
 [<6011f3d0>] ? ip_protocol_deliver_rcu+0x40/0x60
"""
BUG = b"""--- traffic
BUG: failure at net/sawtooth/tcp_aimd.c:37/aimd_ssthresh()!
Kernel panic - not syncing: BUG!
CPU: 0 UID: 0 PID: 0 Comm: swapper/0 Not tainted 7.2.13 #b8f16b56898ac17e VOLUNTARY
Call Trace:
 [<6003de34>] ? _printk+0x0/0x4f
 [<600ed666>] ? dump_stack_lvl+0x55/0xad
 [<60025f20>] ? vpanic+0x110/0x33e
 [<60125ef0>] ? tcp_identify_packet_loss+0x0/0x60
 [<60026198>] ? nmi_panic.cold+0x0/0x18
 [<60128a70>] ? tcp_enter_recovery+0x190/0x200
"""


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        (FAULT, "Kernel panic - not syncing: Segfault with no mm; call trace: aimd_ssthresh < tcp_enter_recovery < tcp_fastretrans_alert < tcp_ack < ip_protocol_deliver_rcu"),
        (BUG, "BUG: failure at net/sawtooth/tcp_aimd.c:37/aimd_ssthresh()! / Kernel panic - not syncing: BUG!; call trace: tcp_enter_recovery"),
        (b"--- topology\n--- traffic\n", "--- traffic"),
    ],
    ids=("fault", "bug", "no reason"),
)  # fmt: skip
def test_last_words_are_the_reason_and_the_call_trace(printed, words):
    assert last_words(printed) == f"; the guest's last output: {words}"


def test_nothing_printed_is_no_last_word():
    assert last_words(b"") == ""


@pytest.mark.parametrize(
    ("printed", "by_itself"),
    [
        (FAULT, True),
        (BUG, True),
        (b"--- traffic\n", False),
        (b"Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b\n", False),
        (
            b"Bus error - the host /dev/shm or /tmp mount likely just ran out of space\nKernel panic - not syncing: Kernel mode signal 7\n",
            False,
        ),
    ],
)
def test_a_machine_that_kills_or_has_no_room_is_not_the_kernels_crash(printed, by_itself):
    assert crashed(printed) is by_itself
