"""Find the reason and the call trace in a crashed kernel's last output."""

import re

#: Pattern of the first line of a kernel's crash report.
WHY = re.compile(r"Kernel panic|BUG:|Oops|kernel BUG|divide error|segfault")
#: Pattern of this line if the machine caused the crash: it killed the first process, or ran out of space for the guest's memory.
OF_THE_MACHINE = re.compile(r"Attempted to kill init|host /dev/shm or /tmp mount likely just ran out of space")
#: Patterns of the current instruction (`RIP: 0033:aimd_ssthresh+0x0/0x40`) and of a call trace's entry
#: (` [<60128a70>] ? tcp_ack+0x190/0x200`).
AT = re.compile(r"^RIP: [0-9a-f]+:([\w.]+)\+0x")
ENTRY = re.compile(r"^\[<[0-9a-f]+>\] (?:\? )?([\w.]+)\+0x([0-9a-f]+)/")
#: Pattern of the functions that print the reason for a crash.
PRINTING = re.compile(r"(dump_stack|v?panic|nmi_panic|_printk|__warn|warn_slowpath)\w*")
#: Maximum number of functions to name, maximum length of a line, and number of lines with CPU registers before a panic.
MOST_FUNCTIONS, MOST_CHARACTERS, REGISTERS = 8, 200, 12


def lines_of(printed) -> list[str]:
    """Return the non-empty lines that a guest printed, without the kernel's timestamps.

    Each line is truncated to `MOST_CHARACTERS`.
    """
    lines = (re.sub(r"^\[ *[0-9.]+\] ", "", line.strip()) for line in printed.decode(errors="replace").splitlines())
    return [line[:MOST_CHARACTERS] for line in lines if line]


def crashed(printed) -> bool:
    """Return whether a kernel reported a crash, such as a panic or an oops, that the machine didn't cause."""
    lines = lines_of(printed)
    return any(WHY.search(line) for line in lines) and not any(OF_THE_MACHINE.search(line) for line in lines)


def last_words(printed) -> str:
    """Return the reason and the call trace that a crashed kernel printed, as text to append to a message.

    If the kernel printed no reason, the result contains its last line instead.
    """
    lines = lines_of(printed)
    why = dict.fromkeys(line for line in lines if WHY.search(line))
    if not why:
        return f"; the guest's last output: {lines[-1]}" if lines else ""
    return f"; the guest's last output: {' / '.join(why)}" + trace_words(printed)


def trace_words(printed) -> str:
    """Return the call trace that a kernel printed, as text to append to a message; empty if it printed none."""
    trace = call_trace(lines_of(printed))
    return f"; call trace: {' < '.join(trace)}" if trace else ""


def call_trace(lines) -> list[str]:
    """Return the functions in a crashed kernel's call trace, innermost first; at most `MOST_FUNCTIONS`.

    Two kinds of entries are omitted: those at the beginning of a function, which can't be return addresses, and functions that print the
    trace.
    """
    begin = next((place for place, line in enumerate(lines) if WHY.search(line)), len(lines))
    # A fault is reported before the panic that it causes.
    at = [found[1] for line in lines[max(0, begin - REGISTERS) : begin] if (found := AT.match(line))][-1:]
    entries = (found for line in lines[begin:] if (found := ENTRY.match(line)))
    called = [name for name, offset in (found.groups() for found in entries) if int(offset, 16)]
    functions = [name.removesuffix(".cold") for name in (*at, *called) if not PRINTING.fullmatch(name)]
    return list(dict.fromkeys(functions))[:MOST_FUNCTIONS]
