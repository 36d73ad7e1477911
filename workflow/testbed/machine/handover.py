"""The input and output of a run's program: a folder with its modules, its specification, and its document."""

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from experiment.programs import needs_files
from testbed.machine.confined import KEYS
from testbed.machine.failure import NOT_ENDED, document_of
from testbed.machine.given_file import given_bytes
from testbed.machine.identity import TESTBED, WORKFLOW, content_digest, modules_of, program_identity
from testbed.machine.machine import GuestError, MachineFault
from testbed.machine.messages import in_words, naming
from testbed.machine.program_files import lay

#: Size of the largest document of a run, in bytes.
LARGEST_BYTES = 2**28
#: Files that `readings.kernel_trace` writes.
TRACE_FILES = ("trace.txt", "kernel.log", "readings.json")
#: Command that compiles a package: in a separate process, because the state of a process affects bytecode; with the package's name instead
#: of the checkout's path, and without the files' dates.
COMPILE = [sys.executable, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-d"]


def hand_over(specification, job) -> None:
    """Put the packages, their identity and a run's specification into the folder ``job``, which is all that the run sees of the machine."""
    with naming(job):
        (job / "specification.json").write_text(json.dumps(specification.document))
        # Not on the guest kernel's command line, which affects its random numbers.
        (job / "testbed_digest").write_text(program_identity(specification))
        try:
            # Copying two hundred files would take a fifth of a short run's time, so they are linked, except for third-party code.
            copy = shutil.copyfile if specification.runs_foreign_code else linked
            shutil.copytree(prepared(), job, copy_function=copy, dirs_exist_ok=True)
        except OSError:  # the checkout isn't writable, or its disk is full
            for package in TESTBED:
                shutil.rmtree(job / package.name, ignore_errors=True)
            prepare(job)
    lay_programs(specification, job)


def lay_programs(specification, job) -> None:
    """Put the files of the study's declared programs into ``job``; raise `GuestError` if they can't be read."""
    if not specification.groups:
        return
    for folder, sha256 in needs_files(specification).items():
        archive = specification.programs and specification.programs / f"{folder}.tar"
        if not archive:
            raise GuestError("guest", f"the files of its program {folder} are missing from the study's results")
        try:
            lay(job / "programs" / folder, archive, sha256)
        except OSError as error:
            raise GuestError("guest", f"the files of its program, {archive}: {in_words(error)}") from None


def linked(file, place) -> None:
    """Copy a file to another place, as a hard link if both are on one file system."""
    try:
        os.link(file, place)
    except OSError:
        shutil.copyfile(file, place)


@dataclass(frozen=True)
class PacketsAsked:
    """Requested packet captures of a run.

    ``kept_bytes`` of each packet are stored, at the interfaces named in ``at`` (all if empty), with additional readings every
    ``step_s``; ``folder`` receives the files, and with ``keys`` also the TLS secrets that the run's programs log.
    """

    kept_bytes: int
    at: list[str]
    step_s: float | None
    folder: Path
    keys: bool = False

    def ask(self, job) -> None:
        """Pass the request to the run's program."""
        (job / "packets").mkdir()
        if self.keys:
            (job / KEYS).mkdir()
        (job / "packets.json").write_text(json.dumps({"bytes": self.kept_bytes, "at": self.at, "step_s": self.step_s}))

    def take(self, job) -> None:
        """Move the captured files to ``folder``: only regular files, because a custom kernel can leave anything in ``job``."""
        for folder, suffix in (("packets", ".pcapng"), *([(KEYS, ".txt")] if self.keys else [])):
            for file in sorted((job / folder).iterdir()):
                if file.suffix == suffix and stat.S_ISREG(file.lstat().st_mode):
                    shutil.move(file, self.folder / file.name)


@dataclass(frozen=True)
class TraceAsked:
    """Requested kernel events of a run.

    ``kernel`` is the guest kernel with tracing, ``events`` and ``functions`` are globs, and ``folder`` gets the files.
    """

    kernel: Path
    events: list[str]
    functions: list[str]
    folder: Path

    def ask(self, job) -> None:
        """Pass the request to the run's program."""
        (job / "trace").mkdir()
        (job / "trace.json").write_text(json.dumps({"events": self.events, "functions": self.functions}))

    def take(self, job) -> None:
        """Move the trace's files to ``folder``: only regular files with known names."""
        for name in TRACE_FILES:
            file = job / "trace" / name
            if os.path.lexists(file) and stat.S_ISREG(file.lstat().st_mode):
                shutil.move(file, self.folder / name)


def prepare(folder) -> None:
    """Put the compiled packages into a folder: compiling them in a run would take longer and change its timing."""
    for package in TESTBED:
        for module in modules_of(package):
            copy = folder / package.name / module.relative_to(package)
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(module, copy)
        compiled = subprocess.run([*COMPILE, package.name, str(folder / package.name)], env={"PYTHONHASHSEED": "0"})
        if compiled.returncode:
            raise OSError(f"{folder}: the testbed's modules can't be compiled there")


def prepared() -> Path:
    """Return a folder with the compiled packages (`prepare`), which is kept next to the packages for further runs.

    Raises `OSError` if it can't be created there.
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
            with contextlib.suppress(OSError):  # a parallel job has made the folder
                partial.rename(folder)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return folder


def result(specification, job, status, step="guest", what="the guest kernel", says_why=False) -> dict:
    """Return the document that a run left in ``job``, or a document with the reason for the run's failure.

    Raises `GuestError` if the run left something else, or a failure without its environment; `MachineFault` if it left nothing or was
    killed.

    Parameters
    ----------
    specification : RunSpecification
    job : pathlib.Path
    status : int
        Exit status of the run's process (negative: the signal).
    step, what : str
        The current step, and the name of the run's process, for the message.
    says_why : bool
        Whether the process printed the reason for its end.
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
    """Return the content of a JSON file that a run wrote, or None if the run ended before the file was complete.

    A custom kernel can leave anything in the file's place, such as a link or a pipe, which counts as no content.

    Parameters
    ----------
    path : pathlib.Path
    keys : iterable of str
        Required keys, whose values must be text.
    """
    try:
        left = json.loads(given_bytes(path, LARGEST_BYTES, os.O_NOFOLLOW), parse_constant=_no_number)
    except (OSError, ValueError, RecursionError):
        return None
    return left if isinstance(left, dict) and all(isinstance(left.get(key), str) for key in keys) else None
