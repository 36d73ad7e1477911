"""The program of one test, root of the guest: what the kernel's `ksft_runner.sh` starts, and what came of it.

The guest's first process (envs/guest/init) calls `main` with the folder that it was given: ``command.json`` there has packetdrill's
arguments, ``scripts`` is where it is started, and ``outcome.json`` is what this leaves. Standard library only, as nothing else is there.
"""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

#: Seconds of the guest's clock that a script may take; the longest of Linux 7.2 takes 7.3.
LIMIT_S = 120
#: Bytes of a script's output that are kept, from its end, and bytes of one record of the kernel's log.
KEPT_BYTES, RECORD_BYTES = 2**16, 2**13
#: Kernel log records are kept up to this level (<linux/kern_levels.h>): warnings and what is worse.
WARNING = 4


def main(folder) -> None:
    """Carry out the test in a folder and leave its outcome there."""
    folder, kernel_log = Path(folder), os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    arguments = json.loads((folder / "command.json").read_text())
    warnings(kernel_log)  # those of the boot
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
    """Start packetdrill in a network namespace of its own and return its exit status, None if it took too long."""
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
    """Return the texts of the warnings that the kernel's log has since the last call."""
    texts = []
    while True:
        try:
            record = os.read(kernel_log, RECORD_BYTES).decode(errors="replace")
        except BlockingIOError:
            return texts
        except BrokenPipeError:  # the log was too short for all of them
            continue
        head, _, text = record.partition(";")
        if int(head.split(",")[0]) % 8 <= WARNING:
            texts.append(text.splitlines()[0])
