"""The program that runs one test as root in the guest.

It runs the same command as the kernel's `ksft_runner.sh` and records the outcome. The guest's first process (envs/guest/init) calls `main`
with a folder. In this folder, ``command.json`` contains packetdrill's arguments, ``scripts`` is the working directory, and the outcome is
written to ``outcome.json``. This module uses only the standard library, because nothing else is installed in the guest.
"""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

#: Time limit for a script, in s of the guest's clock. The longest script of Linux 7.2 takes 7.3 s.
LIMIT_S = 120
#: Number of bytes that are kept from the end of a script's output, and maximum size in bytes of one record in the kernel's log.
KEPT_BYTES, RECORD_BYTES = 2**16, 2**13
#: Log level of the least severe records that are kept from the kernel's log (<linux/kern_levels.h>).
WARNING = 4


def main(folder) -> None:
    """Run the test whose files are in a folder, and write the outcome to this folder."""
    folder, kernel_log = Path(folder), os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    arguments = json.loads((folder / "command.json").read_text())
    warnings(kernel_log)  # discard the warnings from the boot
    began = time.monotonic()
    with open("/tmp/output", "w+b") as output:
        status = carry_out(arguments, folder, output)
        seconds = time.monotonic() - began
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - KEPT_BYTES))
        printed = output.read().decode(errors="replace")
    outcome = {"status": status, "seconds": round(seconds, 3), "output": printed, "warnings": warnings(kernel_log)}
    (folder / "outcome.json").write_text(json.dumps(outcome))


def carry_out(arguments, folder, output) -> int | None:
    """Run packetdrill in a separate network namespace and return the exit status, or None if packetdrill took too long."""
    programs = folder / "programs"
    process = subprocess.Popen(
        [programs / "packetdrill", "--verbose", *arguments],
        cwd=folder / "scripts",
        env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "LD_PRELOAD": str(programs / "virtual_time.so")},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        preexec_fn=lambda: os.unshare(os.CLONE_NEWNET),
    )
    ended = select.poll()
    ended.register(os.pidfd_open(process.pid), select.POLLIN)
    if ended.poll(LIMIT_S * 1000):
        return process.wait()
    os.killpg(process.pid, signal.SIGKILL)
    return None


def warnings(kernel_log) -> list[str]:
    """Return the texts of the warnings that the kernel has logged since the last call."""
    texts = []
    while True:
        try:
            record = os.read(kernel_log, RECORD_BYTES).decode(errors="replace")
        except BlockingIOError:
            return texts
        except BrokenPipeError:  # the log's buffer was too small for all records
            continue
        head, _, text = record.partition(";")
        if int(head.split(",")[0]) % 8 <= WARNING:
            texts.append(text.splitlines()[0])
