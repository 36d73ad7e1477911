"""The folder through which a run's program receives its input and returns its output.

The input consists of the program's modules and the run's specification. The output is the run document.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from experiment.programs import needs_files
from testbed.machine.confined import KEPT_LOGS, KEYS
from testbed.machine.failure import NOT_ENDED, document_of
from testbed.machine.given_file import given_bytes
from testbed.machine.identity import TESTBED, WORKFLOW, content_digest, modules_of, program_identity
from testbed.machine.machine import GuestError, MachineFault
from testbed.machine.messages import in_words, naming
from testbed.machine.program_files import lay

#: Maximum size of a run's document, in bytes.
LARGEST_BYTES = 2**28
#: Pattern of the names of programs' logs: side, port, and the log's own name, which must not be like that of a capture.
LOG_NAME = r"(client|server)-[0-9]{1,5}\.(?!(.*\.)?pcapng$)[A-Za-z0-9_.-]{1,100}"
#: Files that `readings.kernel_trace` writes.
TRACE_FILES = ("trace.txt", "kernel.log", "readings.json")
#: Command that compiles a package. It runs in a separate process, because the state of the compiling process affects the bytecode. The
#: bytecode contains the package's name instead of the checkout's path, and no file dates.
COMPILE = [sys.executable, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-d"]


def hand_over(specification, job) -> None:
    """Put the packages, their digest, a run's specification and the files of its declared programs into the folder ``job``."""
    with naming(job):
        (job / "specification.json").write_text(json.dumps(specification.document))
        # The digest isn't passed on the kernel's command line, because the command line affects the guest's random numbers.
        (job / "testbed_digest").write_text(program_identity(specification))
        try:
            # Copying two hundred files would take a fifth of a short run's time, so they are hard-linked unless the run executes
            # third-party code.
            copy = shutil.copyfile if specification.runs_foreign_code else linked
            shutil.copytree(prepared(), job, copy_function=copy, dirs_exist_ok=True)
        except OSError:  # the checkout isn't writable, or its disk is full
            for package in TESTBED:
                shutil.rmtree(job / package.name, ignore_errors=True)
            prepare(job)
    lay_programs(specification, job)


def lay_programs(specification, job) -> None:
    """Put the files of a study's declared programs into the folder ``job``; raise `GuestError` if the files can't be read."""
    if not specification.groups:
        return
    for folder, sha256 in needs_files(specification).items():
        archive = specification.programs and specification.programs / f"{folder}.tar"
        if not archive:
            raise GuestError("guest", f"the files of the program {folder} are missing from the study's results")
        try:
            lay(job / "programs" / folder, archive, sha256)
        except OSError as error:
            raise GuestError("guest", f"the program's files in {archive}: {in_words(error)}") from None


def linked(file, place) -> None:
    """Create a hard link to a file, or copy the file if it can't be linked."""
    try:
        os.link(file, place)
    except OSError:
        shutil.copyfile(file, place)


@dataclass(frozen=True)
class PacketsAsked:
    """A request for packet captures of a run, and for the logs of its programs.

    Attributes
    ----------
    kept_bytes : int
        Number of bytes to store of each packet.
    at : list of str
        Interfaces at which packets are captured; if empty, all except the control interfaces.
    step_s : float or None
        Interval between additional readings of the captures, in s.
    folder : pathlib.Path
        Folder for the captured files.
    keys : bool
        Whether the folder also receives the TLS secrets that the run's programs log, instead of their other logs.
    """

    kept_bytes: int
    at: list[str]
    step_s: float | None
    folder: Path
    keys: bool = False

    def ask(self, job) -> None:
        """Write the request to the run's folder."""
        for folder in self._folders:
            (job / folder).mkdir()
        (job / "packets.json").write_text(json.dumps({"bytes": self.kept_bytes, "at": self.at, "step_s": self.step_s}))

    def take(self, job) -> None:
        """Move the captured files from the run's folder to ``folder``.

        Only regular files are moved, because a custom kernel can leave anything in the run's folder.
        """
        for folder, name in self._folders.items():
            for file in sorted((job / folder).iterdir()):
                if re.fullmatch(name, file.name) and stat.S_ISREG(file.lstat().st_mode):
                    shutil.move(file, self.folder / file.name)

    @property
    def _folders(self):
        """Subfolders of the run's folder that receive files, each with the pattern of the files' names."""
        logs = {KEYS: r"[a-z0-9-]+\.txt"} if self.keys else {KEPT_LOGS: LOG_NAME}
        return {"packets": r"[A-Za-z0-9_.-]+\.pcapng"} | logs


@dataclass(frozen=True)
class TraceAsked:
    """A request for a trace of kernel events in a run.

    Attributes
    ----------
    kernel : pathlib.Path
        Guest kernel with tracing.
    events, functions : list of str
        Globs of the events and the kernel functions to trace.
    folder : pathlib.Path
        Folder for the trace files.
    """

    kernel: Path
    events: list[str]
    functions: list[str]
    folder: Path

    def ask(self, job) -> None:
        """Write the request to the run's folder."""
        (job / "trace").mkdir()
        (job / "trace.json").write_text(json.dumps({"events": self.events, "functions": self.functions}))

    def take(self, job) -> None:
        """Move the trace files from the run's folder to ``folder``; only regular files with known names are moved."""
        for name in TRACE_FILES:
            file = job / "trace" / name
            if os.path.lexists(file) and stat.S_ISREG(file.lstat().st_mode):
                shutil.move(file, self.folder / name)


def prepare(folder) -> None:
    """Copy the packages into a folder and compile them.

    Compiling them during a run would take longer and change the run's timing. Raises `OSError` if they can't be compiled.
    """
    for package in TESTBED:
        for module in modules_of(package):
            copy = folder / package.name / module.relative_to(package)
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(module, copy)
        compiled = subprocess.run([*COMPILE, package.name, str(folder / package.name)], env={"PYTHONHASHSEED": "0"})
        if compiled.returncode:
            raise OSError(f"{folder}: the testbed's modules can't be compiled in this folder")


def prepared() -> Path:
    """Return the folder with the compiled packages (`prepare`), which is created once and reused by later runs.

    Raises `OSError` if the folder can't be created.
    """
    folder = WORKFLOW / "__pycache__" / f"testbed-{content_digest(*TESTBED)[:16]}"
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=folder.parent))
        try:
            for earlier in folder.parent.glob("testbed-*"):
                shutil.rmtree(earlier, ignore_errors=True)
            prepare(partial)
            partial.chmod(0o755)
            with contextlib.suppress(OSError):  # a parallel job has already created the folder
                partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return folder


def result(specification, job, status, step="guest", what="the guest kernel", says_why=False) -> dict:
    """Return the document that a run left in ``job``, or a document that reports the run's failure.

    Parameters
    ----------
    specification : RunSpecification
    job : pathlib.Path
        Folder of the run.
    status : int
        Exit status of the run's process, or minus the number of the signal that killed it.
    step, what : str
        Current step and name of the run's process, for messages.
    says_why : bool
        Whether the process printed the reason why it ended.

    Raises
    ------
    GuestError
        If the file left by the run is not its document, or if the run failed before its environment was known.
    MachineFault
        If the run left no document, or if it failed because one of its processes was killed.
    """
    failure, document = left_by_run(job / "failure.json", ("step", "kind", "cause")), left_by_run(job / "document.json")
    if failure:
        step, cause, environment = failure["step"], f"{failure['kind']}: {failure['cause']}", failure.get("environment")
        if environment is None:
            raise GuestError(step, cause)
        kind = NOT_ENDED if failure["kind"] == "NotEndedError" else None
        failed = document_of(specification.document, environment, step, cause, kind)
        if failure["kind"] == "KilledError":
            raise MachineFault(step, cause, failed)
        return failed
    if document is None:
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        # A guest kernel aborts when its first process has been killed.
        killed = -status in (signal.SIGKILL, signal.SIGBUS, signal.SIGABRT) and not says_why
        raise MachineFault(step, f"{what} {how}{' (out of memory?)' * killed} and left no document (see the log)")
    if not _is_document_of(document, specification):
        raise GuestError(step, f"{what} left something that is not a document of this run")
    return document


def _is_document_of(document, specification):
    verdict = document.get("verdict")
    checks = verdict.get("checks") if isinstance(verdict, dict) else None
    form = isinstance(checks, list) and all(
        isinstance(check, dict) and {"name", "ok"} <= set(check) for check in checks
    )
    return form and document.get("specification") == specification.document


def _no_number(word):
    raise ValueError(word)


def left_by_run(path, keys=()) -> dict | None:
    """Return the JSON object in a file that a run wrote, or None if the file doesn't contain a complete object.

    A custom kernel can leave anything under the file's name, such as a link or a pipe. In such a case the result is None, too.

    Parameters
    ----------
    path : pathlib.Path
    keys : iterable of str
        Keys that the object must contain, each with a string as its value.
    """
    try:
        left = json.loads(given_bytes(path, LARGEST_BYTES, os.O_NOFOLLOW), parse_constant=_no_number)
    except (OSError, ValueError, RecursionError):
        return None
    return left if isinstance(left, dict) and all(isinstance(left.get(key), str) for key in keys) else None
