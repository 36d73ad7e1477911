"""Build a commit's guest kernels and execute a study's runs on them."""

import hashlib
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from bisecting.condition import BisectError
from experiment.definitions import kernel_id
from experiment.specification import RunSpecification
from publishing.result_checks import reruns
from publishing.result_checks.testbeds_here import ROOT, testbeds_here
from run_tables.run_documents import DocumentError, read_document
from run_tables.steady_state import SteadyRule
from run_tables.tidy_rows import rows_of_run
from session.testbed_identity import image_fact
from study_files.git_trees import IncompleteError
from study_files.kernels import completed_kernel, without_number
from study_files.study_runs import run_conditions, seed_of_run
from testbed.checks.check import INSTRUMENT
from wording.terminal_text import shown

#: Exit status of set-up if no kernel can be built from a commit (setup/stepwise_build.py).
NOT_BUILT = 3
#: A kernel may hang, so each run has a time limit: `LEAST_LIMIT_S` real seconds or `TIMES_LONGEST` times GOOD's longest run, whichever is
#: longer.
LEAST_LIMIT_S, TIMES_LONGEST = 120, 20


class SkippedError(Exception):
    """A commit can't be judged; the message gives the reason."""


@dataclass(frozen=True)
class Run:
    """A run on a commit.

    Attributes
    ----------
    value : float or None
        The measured value; None if it is missing.
    why : str
        Reason for a missing value.
    seconds : float
        Duration of the run, in s.
    """

    value: float | None
    why: str = ""
    seconds: float = 0.0


@dataclass
class Commits:
    """Kernels and runs of commits, kept in a folder for later calls.

    Attributes
    ----------
    tree : str
        The repository.
    study : dict
        The resolved study.
    measure : str
        A column of ``tidy/runs.csv``.
    folder : pathlib.Path
    cores : int
    longest_s : float or None
        Duration of GOOD's longest run, in s, from which the time limit for other runs is derived. The caller stores it for later calls.
    """

    tree: str
    study: dict
    measure: str
    folder: Path
    cores: int
    longest_s: float | None = None
    _kernels: dict = field(default_factory=dict)

    def build(self, commit, cells) -> str:
        """Build the kernels of a commit for the given cells, unless they exist; return a digest of the kernels.

        The digest ignores build numbers.

        Raises
        ------
        SkippedError
            No kernel can be built from the commit.
        BisectError
            The build failed for another reason.
        """
        try:
            self._kernels[commit] = completed_kernel({"tree": self.tree, "revision": commit})
        except IncompleteError as error:
            raise BisectError(f"commit {commit[:12]}", [f"{error}."]) from None
        except ValueError as error:
            raise SkippedError(str(error)) from None
        total = hashlib.sha256()
        for name, sources in self._identities(commit, cells).items():
            linux = self.folder / "kernels" / name / "linux"
            if not linux.exists():
                self._build(commit, name, linux, sources)
            total.update(without_number(linux.read_bytes(), name))
        return total.hexdigest()

    def _build(self, commit, name, linux, sources):
        files = [f"{one.source}={one.sha256}" for one in sources]
        command = [sys.executable, ROOT / "setup", "step", name, linux, json.dumps(self._kernels[commit]), *files]
        log = self.folder / "logs" / f"build-{commit[:12]}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        status, printed, why = _carried_out(command)
        log.write_text(printed + why)
        why = why.strip().removeprefix("sawtooth: ")
        if status == NOT_BUILT:
            raise SkippedError(_shortest(why))
        if status:
            raise BisectError(f"commit {commit[:12]}", [why[-600:] or f"set-up ended with {status}"])

    def _identities(self, commit, cells):
        """Return the kernels of a commit for the given cells: name -> C files of the study that are built into the kernel."""
        linux_sha256 = image_fact(ROOT / "envs/testbed.json", "linux_sha256")
        runs = [RunSpecification(self._specification(commit, cell, 1)) for cell in cells]
        return {kernel_id(linux_sha256, run.sources, run.kernel): run.sources for run in runs}

    def _specification(self, commit, cell, replication):
        scenario, cca, ip_version = cell
        # The repository's path may differ between calls, but it doesn't affect a run.
        kernel = self._kernels[commit] | {"tree": "linux"}
        on_kernel = [one | {"kernel": kernel} for one in self.study["scenarios"]]
        study = self.study | {"scenarios": on_kernel}
        return {
            **run_conditions(study, scenario, replication, cca),
            "cca": cca,
            "ip_version": ip_version,
            "replication": replication,
            "seed": seed_of_run(study, scenario, replication),
        }

    def runs(self, commit, cells: Sequence, replications: Sequence[int]) -> dict[tuple, list[Run]]:
        """Return the runs of the given cells on a commit: cell -> one run per replication.

        The commit's kernels must have been built. Existing runs are reused.
        """
        asked = [(cell, replication) for cell in cells for replication in replications]
        processes = []
        with ThreadPoolExecutor(self.cores) as pool:
            waiting = [pool.submit(self._run, commit, cell, replication, processes) for cell, replication in asked]
            try:
                done = [one.result() for one in waiting]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                reruns.end(processes)
                raise
        return {cell: done[place * len(replications) :][: len(replications)] for place, cell in enumerate(cells)}

    def _run(self, commit, cell, replication, processes):
        specification = self._specification(commit, cell, replication)
        place = self.folder / "runs" / commit[:12] / Path(*cell)
        document = place / f"{replication}.json.gz"
        began = time.monotonic()
        if document.exists():
            # The duration of a run from an earlier call is not recorded.
            return self._read(document, specification, 0)
        work = place / f"work-{replication}"
        work.mkdir(parents=True, exist_ok=True)
        kernels, here = (self.folder / "kernels").absolute(), {"testbed": _program_digest()}
        command = reruns.run_command(ROOT, specification, (work / document.name).absolute(), here, kernels)
        limit_s = max(LEAST_LIMIT_S, TIMES_LONGEST * (self.longest_s or LEAST_LIMIT_S))
        process = reruns.start([*command, "--wall-limit-s", str(limit_s)], work)
        processes.append(process)
        status = process.wait()
        if status or not (work / document.name).exists():
            return Run(None, reruns.last_words(work, status), time.monotonic() - began)
        (work / document.name).replace(document)
        for left in work.iterdir():
            left.unlink()
        work.rmdir()
        return self._read(document, specification, time.monotonic() - began)

    def _read(self, document, specification, seconds):
        try:
            read = read_document(document, specification)
        except DocumentError as error:
            raise BisectError(str(document), [f"{error.cause}; delete it and run the command again."]) from None
        row, *_ = rows_of_run(read, "", None, SteadyRule(**self.study["steady_state"]))
        if "failure" in read:
            return Run(None, read["failure"]["cause"], seconds)
        if row["excluded_by"] == INSTRUMENT:
            return Run(None, row["invalid_because"], seconds)
        value = row.get(self.measure)
        return Run(None if value is None else float(value), "it has no such value" if value is None else "", seconds)


def _carried_out(command):
    """Run a command; return its exit status, standard output and standard error.

    After an interrupt, terminate the command and wait until it has exited.
    """
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace") as process:  # fmt: skip
        try:
            printed, why = process.communicate()
        except BaseException:
            process.terminate()  # set-up terminates the compilers
            process.wait()
            raise
    return process.returncode, printed, why


@cache
def _program_digest() -> str:
    return testbeds_here()["testbed"][1]


def _shortest(why):
    """Return the reason for a failed build in one line: the compiler's first error or, if the compiler reported none, the first line."""
    lines = why.replace("/build/source/", "").splitlines()
    return shown(
        next((line.strip() for line in lines if ": error: " in line), lines[0] if lines else "it is not built"), 200
    )
