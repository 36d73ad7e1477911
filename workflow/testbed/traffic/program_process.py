"""Launcher for one side of a declared program: it confines and starts the program, and watches it until the program ends.

``python3 -m testbed.traffic.program_process PLAN RESULT`` runs as root of the guest and isn't part of the program. A server is started at
once, and terminated when the launcher's input ends. For a client, the launcher reads the traffic's origin from its input, and starts the
client at the planned time.

The launcher prints ``ready`` for its parent: before a client is started; when a server has printed the declared line; or at once for a
server without a declared line.
"""

import contextlib
import fcntl
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import time

from testbed.machine.confined import ENVIRONMENT, LOGS, MOST_SECRETS, confine
from testbed.traffic.clocked import Clock, read_plan, write_result

#: Maximum output of a program, and sizes of the first and last parts of the output to keep, in bytes.
MOST_PRINTED, KEPT_FIRST, KEPT = 2**20, 1024, 4096
#: Terminal codes for colours and cursor movements, which would separate a word from its number.
STYLES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
#: A number with spaces or apostrophes between its thousands, in UTF-8.
GROUPED = rb"[1-9][0-9]{0,2}(?:(?: |\xc2\xa0|\xe2\x80[\x89\x99\xaf])[0-9]{3})+(?![0-9])"
#: Digits that this pattern doesn't match are part of something other than a whole number: a larger number, a fraction, a time, a word, or a
#: number of kilobytes.
IS_WHOLE = rb"(?![0-9A-Za-z_\x80-\xff]|[',.:][0-9]|\.[eE]| [kKMGT]i?(?:[Bb]|bits?|[Bb]ytes?)(?![A-Za-z]))"
#: Time limit in s of the run's clock for a server to become ready.
READY_S = 60.0
#: Time in ns between SIGTERM and SIGKILL.
GRACE_NS = 2 * 10**9
#: Number of lines of a program's output to quote, of which one is the first, and maximum number of characters: in total, and of the first
#: line.
QUOTED_LINES, QUOTED_CHARACTERS, FIRST_CHARACTERS = 5, 300, 120
UNPRINTABLE = re.compile(rb"[^\x20-\x7e]")
#: Typographic quotation marks, which common programs print in messages: in UTF-8, and in ASCII.
QUOTATION_MARKS = {"\u2018": b"'", "\u2019": b"'", "\u201c": b'"', "\u201d": b'"'}
#: Ways in which a program may end: by itself, at the end of the run, at its time limit, or after too much output; or it couldn't be
#: started.
ITSELF, AT_END, AT_LIMIT, TOO_MUCH, NOT_STARTED = (
    "itself",
    "at the end",
    "at its limit",
    "too much output",
    "not started",
)


class KeyLog:
    """The pipe for a program's TLS secrets, if they are requested; the environment variable SSLKEYLOGFILE names the pipe.

    Creating a file would consume a random number, which would change all later random numbers and the secrets. The pipe is created before
    the program is due to start, and read after the program's end, so that nothing happens in between.
    """

    def __init__(self, plan):
        self._target, self.variable, self.passed = plan["keys"], {}, ()
        if self._target:
            self._end, write = os.pipe()
            fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, MOST_SECRETS)
            os.fchown(write, plan["user"], plan["user"])
            self.variable, self.passed = {"SSLKEYLOGFILE": f"/proc/self/fd/{write}"}, (write,)

    def write(self) -> None:
        """Write the content of the pipe to the file for the secrets, without checking the content."""
        if self._target:
            os.set_blocking(self._end, False)
            content = b""
            with contextlib.suppress(BlockingIOError):
                while len(content) < MOST_SECRETS and (part := os.read(self._end, MOST_SECRETS)):
                    content += part
            # The file is written at once (O_SYNC) instead of later by the kernel's own threads.
            with open(os.open(self._target, os.O_WRONLY | os.O_CREAT | os.O_SYNC, 0o644), "wb", buffering=0) as file:
                file.write(content[:MOST_SECRETS])


class Watched:
    """A program being watched: its process, its output so far, and the reason why it ended."""

    def __init__(self, plan, clock, key_log):
        self.plan, self.clock, self.head, self.tail, self.printed = plan, clock, b"", b"", 0
        self.reported, self.is_ready = None, False
        self.ended_by, self.started_ns = ITSELF, clock.now_ns()
        here, there = socket.socketpair() if plan["qlog"] else (None, None)
        self.process = subprocess.Popen(
            plan["command"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=ENVIRONMENT | key_log.variable, start_new_session=True, preexec_fn=lambda: confine_side(plan, there), pass_fds=key_log.passed,
        )  # fmt: skip
        #: Descriptor of the folder with the program's logs. The folder is invisible to other programs, and disappears when nothing uses
        #: it any more. The launcher's parent also receives the descriptor, because it may copy the logs at the end of the run.
        self.logs = socket.recv_fds(here, 1, 1)[1][0] if here else None
        if here:
            with socket.socket(fileno=plan["logs_to"]) as parent:
                socket.send_fds(parent, [b" "], [self.logs])

    def read(self) -> bool:
        """Read a part of the program's output, and return whether more may follow."""
        chunk = os.read(self.process.stdout.fileno(), 65_536)
        self.printed += len(chunk)
        self.head += STYLES.sub(b"", chunk)[: KEPT_FIRST - len(self.head)]
        # Searched before it is cut, because a program may print much after the line that counts.
        output = STYLES.sub(b"", self.tail + chunk)
        self.is_ready |= self.plan["ready_line"] is not None and self.plan["ready_line"].encode() in output
        # The rest of an unfinished line is in the next chunk, unless the line is very long.
        self.note_report(output if len(output) > KEPT else output[: output.rfind(b"\n") + 1])
        self.tail = output[-KEPT:]
        return bool(chunk)

    def note_report(self, output) -> None:
        """Keep the last number that the program reports in a part of its output."""
        number = reported(output, self.plan["reports"])
        self.reported = self.reported if number is None else number

    def end(self, why) -> None:
        """Ask the program to end (first call), or kill the program (second call)."""
        ending = signal.SIGTERM if self.ended_by == ITSELF else signal.SIGKILL
        self.ended_by = why if self.ended_by == ITSELF else self.ended_by
        os.killpg(self.process.pid, ending)

    def drain(self) -> None:
        """Read the rest of an ended program's output, and kill the processes that the program left behind."""
        os.set_blocking(self.process.stdout.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            while self.read() and self.printed <= 2 * MOST_PRINTED:
                pass
        self.note_report(self.tail)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def result(self) -> dict:
        """Wait until the program has ended, and return its result."""
        status = self.process.wait()
        ended_ns = self.clock.now_ns()
        return {
            "started_ns": self.started_ns, "ended_ns": ended_ns, "status": status, "ended_by": self.ended_by,
            "printed_bytes": self.printed, "reported": self.reported, "last": quoted(self.head, self.tail),
        }  # fmt: skip


def confine_side(plan, launcher) -> None:
    """Confine the process that is about to become a program.

    The process also passes the folder of the program's logs to the socket ``launcher`` unless ``launcher`` is None.
    """
    confine(plan["files"], plan["root"], plan["user"], plan["memory_mib"])
    if launcher:
        socket.send_fds(launcher, [b" "], [os.open(LOGS, os.O_RDONLY | os.O_DIRECTORY)])


def read_logs(watched, plan) -> dict:
    """Return the content of an ended program's logs (`qlog.read_logs`), with times relative to the traffic's origin.

    A client's origin is in ``plan``; a server's origin is read from standard input.
    """
    # Imported here because other runs don't need it.
    from testbed.readings import qlog

    origin_ns = plan["origin_ns"] if plan["start_ns"] is not None else int(sys.stdin.readline() or 0)
    ahead_ns = time.time_ns() - time.monotonic_ns()
    return qlog.read_logs(watched.logs, plan["qlog"], origin_ns + ahead_ns, plan["step_ns"])


def reported(tail, word) -> int | None:
    """Return the last integer that follows ``word`` in a program's output, or None if no integer follows the word.

    A number with separators, a fraction, an exponent or a unit is not an integer.

    >>> reported(b'bytes 12, bytes: 7.', "bytes"), reported(b'{"bytes": 12}', "bytes"), reported(b"bytes    5", "bytes")
    (7, 12, 5)
    >>> [reported(b"bytes " + one, "bytes") for one in (b"5,000", b"5_000", b"5'000", b"4.88", b"5.0e6", b"5e6", b"5k", b"5 MB", b"5 000 000")]
    [None, None, None, None, None, None, None, None, None]
    >>> [reported(b"bytes " + one, "bytes") for one in (b"5000 in 12 s", b"5000 bytes", b"5000 12.5")]
    [5000, 5000, 5000]
    """
    if word is None:
        return None
    begin = rb"(?<![A-Za-z0-9_])" + re.escape(word.encode())
    found = re.findall(begin + rb"\"?[\s:=]{1,16}(?!" + GROUPED + rb")([0-9]{1,18})" + IS_WHOLE, tail)
    return int(found[-1]) if found else None


def quoted(head, tail) -> str:
    """Return the first line and the last four lines of the output, as one line of printable ASCII characters.

    ``head`` and ``tail`` are the output's first and last bytes, which may overlap. Some programs print an error before a long description
    of their usage, and others at the end.

    >>> quoted(b"no such flag: -x\\nUsage:\\n", b"-a\\n-b\\n-c\\n-d\\n-e\\n")
    'no such flag: -x | ... | -b | -c | -d | -e'
    """
    first, last = printable(head), printable(tail)
    is_whole = tail.startswith(head) and len(last) <= QUOTED_LINES and len(" | ".join(last)) <= QUOTED_CHARACTERS
    begin = f"{first[0][:FIRST_CHARACTERS]} | ... | " if first and not is_whole else ""
    return begin + " | ".join(last[bool(begin) - QUOTED_LINES :])[len(begin) - QUOTED_CHARACTERS :]


def printable(output) -> list[str]:
    """Return the lines of an output that aren't blank, in printable ASCII characters."""
    for mark, plain in QUOTATION_MARKS.items():
        output = output.replace(mark.encode(), plain)
    lines = (UNPRINTABLE.sub(lambda match: b"\\x%02x" % match[0][0], line) for line in output.split(b"\n"))
    return [line.decode() for line in lines if line.strip()]


def watch(watched, clock, limit_ns, ready_line) -> None:
    """Read a program's output until the program ends: by itself, at the time limit, after too much output, or at the end of the input."""
    is_awaited = ready_line is not None
    with selectors.EpollSelector() as selector:
        handle = os.pidfd_open(watched.process.pid)
        selector.register(handle, selectors.EVENT_READ, "ended")
        selector.register(watched.process.stdout, selectors.EVENT_READ, "printed")
        selector.register(sys.stdin, selectors.EVENT_READ, "input")
        selector.register(clock, selectors.EVENT_READ, "limit")
        if limit_ns is not None:
            clock.ring_at(limit_ns)
        while "ended" not in (what := {key.data for key, _ in selector.select()}):
            if "printed" in what and not watched.read():
                selector.unregister(watched.process.stdout)
            if is_awaited and watched.is_ready:
                print("ready", flush=True)
                is_awaited = False
            if why := why_to_end(watched, what):
                clock.quiet()
                watched.end(why)
                clock.ring_at(clock.now_ns() + GRACE_NS)
            if "input" in what:
                selector.unregister(sys.stdin)
        os.close(handle)
    watched.drain()


def why_to_end(watched, what) -> str | None:
    """Return the reason to end a program now, or None if the program may continue.

    ``what`` is the set of events that have just occurred.
    """
    if watched.printed > MOST_PRINTED:
        return TOO_MUCH
    return AT_LIMIT if "limit" in what else AT_END if "input" in what else None


def wait_until(clock, at_ns) -> None:
    """Wait until the given time without reading the clock."""
    with selectors.EpollSelector() as selector:
        selector.register(clock, selectors.EVENT_READ)
        clock.ring_at(at_ns)
        selector.select()
        clock.quiet()


def carry_out(plan) -> dict:
    """Start a program according to a plan, and return the program's result."""
    is_client, key_log = plan["start_ns"] is not None, KeyLog(plan)
    if is_client or plan["ready_line"] is None:
        print("ready", flush=True)
    origin_ns = int(sys.stdin.readline()) if is_client else time.monotonic_ns()
    clock = Clock(origin_ns)
    if is_client:
        wait_until(clock, plan["start_ns"])
    try:
        watched = Watched(plan, clock, key_log)
    except OSError as error:
        why = f"{plan['command'][0]}: {error.strerror}"
        return {
            "started_ns": clock.now_ns(), "ended_ns": clock.now_ns(), "status": 127, "ended_by": NOT_STARTED,
            "printed_bytes": 0, "reported": None, "last": quoted(b"", why.encode()),
            **({"qlog": {"problem": "the program was not started"}} if plan["qlog"] else {}),
        }  # fmt: skip
    watch(watched, clock, plan["limit_ns"], None if is_client else plan["ready_line"])
    result = watched.result()
    key_log.write()
    return result | ({"qlog": read_logs(watched, plan | {"origin_ns": origin_ns})} if plan["qlog"] else {})


if __name__ == "__main__":
    plan_file, result_file = sys.argv[1:]
    write_result(result_file, carry_out(read_plan(plan_file)))
