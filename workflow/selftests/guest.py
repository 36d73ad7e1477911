"""The program of one test, executed as root in the guest: it starts the same command as the kernel's `ksft_runner.sh` and records the outcome.

The guest's first process (envs/guest/init) calls `main` with a folder: its ``command.json`` contains packetdrill's
arguments, its ``scripts`` is the working directory, and the outcome is written to its ``outcome.json``. Standard library only, because the
guest has nothing else.
"""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

#: Seconds of the guest's clock that a script may take; the longest script of Linux 7.2 takes 7.3 s.
LIMIT_S = 120
#: Number of bytes kept from the end of a script's output, and size of one record of the kernel's log in bytes.
KEPT_BYTES, RECORD_BYTES = 2**16, 2**13
#: Kernel log records are kept up to this level (<linux/kern_levels.h>): warnings and worse.
WARNING = 4


def main(folder) -> None:
    """Run the test in a folder and write its outcome there."""
    folder, kernel_log = Path(folder), os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    arguments = json.loads((folder / "command.json").read_text())
    warnings(kernel_log)  # discard those of the boot
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
    """Run packetdrill in a separate network namespace and return its exit status; None if it took too long."""
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
    """Return the texts of the warnings in the kernel's log since the last call."""
    texts = []
    while True:
        try:
            record = os.read(kernel_log, RECORD_BYTES).decode(errors="replace")
        except BlockingIOError:
            return texts
        except BrokenPipeError:  # the log's buffer was too small for all of them
            continue
        head, _, text = record.partition(";")
        if int(head.split(",")[0]) % 8 <= WARNING:
            texts.append(text.splitlines()[0])
