"""Call Snakemake in copies of the checkout, and measure the time and memory of the calls."""

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "workflow" / "scripts"), str(ROOT / "workflow")]
BIN = Path(sys.executable).parent
SETTINGS = ("Snakefile", "config", "examples", "profiles", "report", "setup", "workflow")
CCAS = ["reno", "cubic", "bbr", "vegas", "veno", "westwood"]
#: Number of runs in a study with both IP versions -> number of scenarios, number of CCAs, and number of replications.
SIZES = {100: (5, 5, 2), 1000: (10, 5, 10), 14400: (12, 6, 100), 100_000: (10, 5, 1000)}
#: Snakemake's options for fifty runs per job.
FIFTY = ("--set-resources", "emulate_run:runs=50", "--keep-incomplete")
#: Time in seconds within which a run ends after its workflow has been killed.
NOTICED_S = 3
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass
class Call:
    """The cost of a call.

    Attributes
    ----------
    wall_s, cpu_s : float
        Wall-clock time and CPU time in seconds. With `call`, the CPU time includes child processes.
    memory_mb : float
        Peak memory of the largest process in MB.
    output : str
        Output of the call.
    """

    wall_s: float
    cpu_s: float
    memory_mb: float
    output: str = ""


@contextmanager
def checkout() -> Iterator[Path]:
    """Yield a copy of this checkout in a temporary folder, with the images but without results."""
    with tempfile.TemporaryDirectory(prefix="sawtooth-scale-") as name:
        folder = Path(name)
        for part in SETTINGS:
            source = ROOT / part
            if source.is_dir():  # cargo's builds of the examples, hundreds of MB, are omitted
                shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("target"))
            else:
                shutil.copy(source, folder / part)
        for image in ("testbed.sif", "testbed.json", "analysis.sif", "analysis.json"):
            if not (ROOT / "envs" / image).exists():
                sys.exit(f"benchmark: envs/{image} is missing: run `make setup` first.")
        (folder / "envs").mkdir()
        for part in (ROOT / "envs").iterdir():
            (folder / "envs" / part.name).symlink_to(part.resolve())
        yield folder


def write_study(folder, scenarios, ccas, replications, duration_s=1, **scenario) -> tuple[str, Path]:
    """Write a study with given numbers of scenarios and replications, and return the paths to its file and results folder."""
    path = {"link": {"rate_mbps": 10, "delay_ms": 10}, "queue": {"packets": 30}, "flows": 1} | scenario
    study = {
        "study": "scale",
        "title": "Scale",
        "replications": replications,
        "ccas": ccas,
        "defaults": {"traffic": {"duration_s": duration_s}},
        "scenarios": [{"id": f"path-{number}", **path} for number in range(1, scenarios + 1)],
    }
    (folder / "config/studies/scale.yaml").write_text(json.dumps(study))
    return "config/studies/scale.yaml", folder / "results" / "scale"


# The run cache is disabled, so that all measured runs are executed.
os.environ["SAWTOOTH_RUN_CACHE"] = "0"


def snakemake(study, *arguments, cores=1) -> list[str | int | Path]:
    """Return the command with which a user would run a study."""
    return [BIN / "snakemake", "--use-apptainer", "--cores", cores, "--configfile", study, *arguments]


def call(command, folder, watch=None) -> Call:
    """Run a command to completion and return its cost.

    Parameters
    ----------
    command : list
        Command with its arguments.
    folder : pathlib.Path
        Working folder.
    watch : callable, optional
        Function that is called ten times per second with the process ID.

    Returns
    -------
    Call
        Cost of the command, including its child processes.
    """
    with tempfile.TemporaryFile() as output:
        began = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        while watch and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            watch(process.pid)
            time.sleep(0.1)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - began
        output.seek(0)
        text = output.read().decode(errors="replace")
    if status:
        sys.exit(f"benchmark: {' '.join(map(str, command))[:300]} failed:\n{text[-3000:]}")
    return Call(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def started(folder) -> bool:
    """Return whether a Snakemake job is running, from the marker that Snakemake keeps for each running job."""
    markers = folder / ".snakemake" / "incomplete"
    return markers.is_dir() and any(markers.iterdir())


def call_until(condition, command, folder) -> Call:
    """Run a command until a condition is true, then kill the command; return its cost without child processes.

    ``condition`` is a function that is called with the command's PID.
    """
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [str(word) for word in command], cwd=folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            while not condition(process.pid):
                if process.poll() is not None:
                    output.seek(0)
                    sys.exit(f"benchmark: Snakemake ended too early:\n{output.read().decode(errors='replace')[-3000:]}")
                time.sleep(0.05)
            took = Call(time.monotonic() - began, cpu_s(process.pid), peak_mb(process.pid))
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            time.sleep(NOTICED_S)
    return took


def cpu_s(pid) -> float:
    """Return the CPU seconds that a running process has used so far, without its child processes."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def threads(pid) -> int:
    """Return the number of threads of a process."""
    return len(os.listdir(f"/proc/{pid}/task"))


def peak_mb(pid) -> float:
    """Return the peak resident memory of a running process in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0)


#: Program that runs `snakemake --touch` for missing files. Snakemake itself writes the records of all jobs, as it does after real jobs.
TOUCH = f"""
import sys
sys.path.insert(0, {str(ROOT / "workflow" / "scripts")!r})
from session.inside_planning import make_missing_files_at_once
from snakemake.cli import main

make_missing_files_at_once()
main(sys.argv[1:])
"""


def pretend_done(study, folder, *arguments) -> Call:
    """Make a study look finished: create empty files as results, and let Snakemake write its own record of each job."""
    at_a_time = ("--scheduler-subsample", 300)
    touch = [*snakemake(study, "--touch", *at_a_time, *arguments, cores=300)[1:]]
    return call([sys.executable, "-c", TOUCH, *touch], folder)


def row(*cells) -> None:
    """Print a row of a Markdown table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def head(*names) -> None:
    """Print the header of a Markdown table."""
    row(*names)
    print("|" + "---|" * len(names), flush=True)


def spread(values, digits=2) -> str:
    """Return the median of some values as text, followed by the minimum and maximum unless there is only one value."""
    values = list(values)
    text = f"{statistics.median(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def documents(results) -> list[Path]:
    """Return the paths to all run documents in a results folder, sorted."""
    return sorted(results.glob("runs/*/*/*/*.json.gz"))
