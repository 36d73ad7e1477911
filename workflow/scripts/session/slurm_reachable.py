"""Check that Slurm responds if the workflow submits jobs to it."""

import shutil
import subprocess
import sys
from typing import NoReturn

from wording.terminal_text import said

#: Time limit for `sinfo`, in s: Slurm's own commands wait this long for the controller.
LIMIT_S = 60


def require_slurm(executor: str) -> None:
    """Exit with a message if this call's executor is Slurm, and Slurm's programs are missing or the controller doesn't respond.

    Without this check, each job would fail separately, with a traceback for each attempt.
    """
    if executor != "slurm":
        return
    if not shutil.which("sbatch"):
        _leave("there is no Slurm here (sbatch is missing)")
    try:
        asked = subprocess.run(["sinfo", "--noheader", "--format=%P"], capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        _leave(f"Slurm did not answer within {LIMIT_S} s (sinfo)")
    except OSError as error:
        _leave(f"Slurm can't be asked (sinfo: {error.strerror})")
    if asked.returncode:
        cause = (asked.stderr.strip().splitlines() or [f"status {asked.returncode}"])[-1]
        _leave(f"Slurm does not answer ({cause})")


def _leave(cause) -> NoReturn:
    """Exit with a message that states the problem and the remedy."""
    sys.exit(said(f"{cause}: start this on a login node of the cluster, or without --profile profiles/slurm."))
