"""Allow only one workflow at a time in a study's folder; a killed workflow doesn't leave a lock behind."""

import fcntl
import os
import sys
from pathlib import Path

from testbed.machine.messages import tell
from wording.terminal_text import said

_held = []


def hold_study(folder: str) -> None:
    """Lock a study's folder until this process ends or is killed; create the folder if it is missing.

    Snakemake's own lock outlives a killed process and requires `--unlock`. The kernel
    releases this lock (flock) when the process ends. Exits with a message if another
    workflow has locked the folder, or if the folder isn't writable.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        handle = os.open(Path(folder) / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        sys.exit(said(f"{folder} can't be written ({error.strerror})."))
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        sys.exit(said(f"another workflow is at work on {folder}: wait until it has ended."))
    except OSError as error:  # some shared file systems don't support locks
        problem = f"{folder} can't be locked ({error.strerror})"
        tell(f"{problem}: make sure that no other workflow uses this folder.")
    _held.append(handle)
