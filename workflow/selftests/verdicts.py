"""Verdicts on tests: passed, failed, or not suitable for this guest, each with a reason unless the test passed."""

import re

from selftests.guest import LIMIT_S
from testbed.machine.crash import WHY

PASSED, FAILED, NOT_FIT = "passed", "failed", "not fit"
#: A shell's message about a missing program: `sh: 2: ethtool: not found`, `bash: line 1: foo: command not found`.
NO_PROGRAM = re.compile(r"^(?:\S*sh|\S+\.sh): (?:line )?\d+: (\S+): (?:command )?not found$", re.M)
#: packetdrill's message if the kernel's struct tcp_info is shorter than packetdrill's own definition.
SHORT_INFO = "assertion len >= sizeof(struct _tcp_info) failed"
#: packetdrill's message about a packet whose bytes differ from those that the script sent, a flag that may cause this, and the option that
#: prevents it. packetdrill frees a buffer from which the kernel is still sending (MSG_ZEROCOPY). Newer scripts use the option; scripts for
#: an older packetdrill don't.
OTHER_BYTES, ZERO_COPY, KEEPS_BUFFERS = "incorrect outbound data payload", "MSG_ZEROCOPY", "--send_omit_free"
#: Pattern of the kernel's warnings, which no test may cause.
WARNING = re.compile(rf"WARNING:|{WHY.pattern}")
#: Kernel option -> pattern found in the scripts that need the option. All scripts need the options that aren't listed here.
NEEDS = {
    "TLS": re.compile(r"\b(TCP_ULP|SOL_TLS)\b"),
    "TCP_MD5SIG": re.compile(r"<[^>]*\bmd5\b|\bTCP_MD5SIG\b"),
    "TCP_AO": re.compile(r"<[^>]*\btcp-?ao\b|\bTCP_AO_\w+"),
    "INET_PSP": re.compile(r"\bpsp\b|\bPSP\b"),
    "NET_SCH_FQ": re.compile(r"\btc qdisc .*\bfq\b"),
    "SYN_COOKIES": re.compile(r"\btcp_syncookies\b"),
}
#: Number of lines that are kept from the end of a failed script's output, and maximum length of a line in characters.
KEPT_LINES, KEPT_CHARACTERS = 12, 300


def judge(outcome, script, options) -> tuple[str, str]:
    """Return the verdict on a test, and the reason for the verdict ("" if the test passed).

    Parameters
    ----------
    outcome : dict
        Outcome from `boot.carry_out`.
    script : str
        Text of the test's script.
    options : set of str
        The kernel's options, as returned by `options_of`.
    """
    if "end" in outcome:
        return FAILED, outcome["end"]
    warnings = [text for text in outcome["warnings"] if WARNING.search(text)]
    if warnings:
        return FAILED, f"the kernel warns: {warnings[0][:KEPT_CHARACTERS]}"
    if outcome["status"] == 0:
        return PASSED, ""
    if found := NO_PROGRAM.search(outcome["output"]):
        return NOT_FIT, f"the script calls the program {found[1]}, which the guest doesn't have"
    if SHORT_INFO in outcome["output"]:
        return (NOT_FIT, "packetdrill is newer than the kernel, and reads a longer struct tcp_info than the kernel has")
    if OTHER_BYTES in outcome["output"] and ZERO_COPY in script and KEEPS_BUFFERS not in script:
        return (
            NOT_FIT,
            f"packetdrill is newer than the script, and frees {ZERO_COPY} buffers because the script doesn't have {KEEPS_BUFFERS}",
        )
    if lacking := [option for option, sign in NEEDS.items() if option not in options and sign.search(script)]:
        return NOT_FIT, f"{lacking[0]} is off in this kernel"
    if outcome["status"] is None:
        return FAILED, f"the test did not end within {LIMIT_S} s of the guest's time"
    return FAILED, why_failed(outcome)


def why_failed(outcome) -> str:
    """Return packetdrill's error message: the last output line that begins with a script's name and line number or reports an error."""
    lines = outcome["output"].splitlines()
    said = [line for line in lines if re.match(r"\S+\.pkt:\d+: |\S+: (error|syntax)", line)]
    return (said or lines or [f"packetdrill's exit status is {outcome['status']}"])[-1][:KEPT_CHARACTERS]


def last_lines(outcome) -> list[str]:
    """Return the last lines of packetdrill's output: the packets before the failure, and the error message."""
    return [line[:KEPT_CHARACTERS] for line in outcome.get("output", "").splitlines()[-KEPT_LINES:]]


def options_of(configuration) -> set[str]:
    """Return the options that a kernel's configuration sets, without CONFIG_: NAME if the value is y, otherwise NAME=value.

    ``configuration`` is the text of the configuration file.
    """
    found = re.findall(r"^CONFIG_(\w+)=(.*)$", configuration, re.M)
    return {name if value == "y" else f"{name}={value}" for name, value in found}


def options_off(wanted, options) -> list[str]:
    """Return the options that the tests' configuration file sets but a kernel's configuration doesn't.

    ``wanted`` is the text of the tests' configuration file. The options HZ_1000, HZ_250, ... are ignored, because arch/um has no prompt for
    HZ and therefore doesn't have these options; the value of HZ itself is compared.
    """
    return sorted(option for option in options_of(wanted) - options if not re.fullmatch(r"HZ_\d+", option))
