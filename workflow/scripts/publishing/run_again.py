"""Repeat a finished run with recordings; the recordings are kept only if the repeated run's document is byte-identical."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from experiment.programs import has_programs
from publishing.result_checks import kernels_again, reruns
from publishing.result_checks.compressed_json import decompress, parse
from publishing.result_checks.received_documents import check_document
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import DOCUMENT_LIMIT, read_file
from publishing.result_checks.received_study import ReceivedStudy
from publishing.result_checks.testbeds_here import ROOT, testbeds_here
from testbed.machine.carrying import write_document
from wording.missing_files import absence

#: Intervals in s at which the recordings are read during the run (None: only at its end). If an interval fails, the next one is tried.
STEPS_S = (None, 0.1, 0.02, 0.05, 0.01)
FORM = "results/<study>/runs/<scenario>/<cca>/<ip version>/<replication>.json.gz"


class OtherDocumentError(ReceivedError):
    """No recorded repetition reproduced the run's document."""


@dataclass(frozen=True)
class FinishedRun:
    """A finished run, with its specification and its run document.

    ``folder`` is the results folder and ``name`` the run's name in this folder. ``specification`` is already validated.
    """

    folder: Path
    name: str
    specification: dict
    document: dict


def finished_run(path: Path, recorded: str) -> FinishedRun:
    """Return the run to which a document belongs; ``recorded`` names what is to be recorded, such as "packets".

    Raises
    ------
    ReceivedError
        If the document doesn't exist or is invalid, or if it is from another testbed, from a platform other than ``uml``, or from a failed
        run.
    """
    folder, name = run_of(path)
    here, study = list(testbeds_here().values()), ReceivedStudy(folder)
    study.content = (
        None  # may be older than the run if the study has changed; the document contains its own specification
    )
    checked = check_document(folder, name, study, here)
    _require_uml(checked.platform or "uml", path, recorded)
    if checked.made_by and checked.made_by not in here:
        remedy = f"check out its commit {study.commit}" if study.commit else "run the study again"
        raise ReceivedError(f"{shown(path)} was made by a testbed other than the one here, so its bytes can't be reproduced: {remedy}.")  # fmt: skip
    if checked.problems:
        raise ReceivedError(f"{shown(path)}: {checked.problems[0]}.")
    document = parse(decompress(read_file(folder, f"runs/{name}.json.gz", DOCUMENT_LIMIT)))
    _require_uml(checked.specification["scenario"]["platform"], path, recorded)
    if "links" not in document:
        raise ReceivedError(f"{shown(path)}: the run failed before its end ({document.get('failure', {}).get('cause', 'no links')}), so its {recorded} are unknown.")  # fmt: skip
    return FinishedRun(folder, name, checked.specification, document)


def _require_uml(platform, path, recorded):
    if platform != "uml":
        raise ReceivedError(f"{shown(path)}: its platform is {shown(platform)}; {recorded} can only be recorded on uml, because host can't repeat a run byte for byte and ns3 has no kernel.")  # fmt: skip


def run_of(path: Path) -> tuple[Path, str]:
    """Return the results folder and the run's name, given the path of a run document.

    Raises `ReceivedError` if the file can't be read or isn't at the path of a run document.
    """
    if why := absence(path):
        raise ReceivedError(f"RUN={shown(path)}: {why}; allowed: {FORM}.")
    parts = Path(os.path.abspath(path)).parts  # not resolved, because links below the results folder aren't followed
    if len(parts) < 6 or parts[-5] != "runs" or not parts[-1].endswith(".json.gz"):
        raise ReceivedError(f"RUN={shown(path)} is not a run document; allowed: {FORM}.")
    return Path(*parts[:-5]).resolve(), "/".join(parts[-4:]).removesuffix(".json.gz")


def own_kernels(run: FinishedRun, place: Path, build: bool) -> Path | None:
    """Return a folder that contains the run's own kernel, or None if the run uses the image's kernel.

    Raises
    ------
    ReceivedError
        If ``build`` is False although the run needs the study's own kernel or programs, or if the build fails.
    """
    if has_programs(run.specification) and not build:
        raise ReceivedError("the run has the study's own programs: BUILD=1 starts them, confined as in the run.")
    if kernels_again.kernel_name(run.specification, ROOT) is None:
        return None
    if not build:
        raise ReceivedError("the run has the study's own kernel, which is a program: BUILD=1 builds it again from its sources, and starts it.")  # fmt: skip
    if why := kernels_again.build(run.specification, run.folder, ROOT, place):
        raise ReceivedError(f"its kernel: {why}.")
    return place / "kernels"


def record(
    run: FinishedRun,
    place: Path,
    kernels: Path | None,
    recorded: str,
    arguments: Callable,
    lost: Callable = lambda _: 0,
    steps_s: Iterable[float | None] = STEPS_S,
    unlike: Iterable[str] = (),
) -> Path:
    """Repeat a run with recordings until its document is reproduced and no record is lost; return the folder with the best recordings.

    Parameters
    ----------
    run : FinishedRun
        Run to repeat.
    place : pathlib.Path
        A temporary folder.
    kernels : pathlib.Path, optional
        Result of `own_kernels`.
    recorded : str
        What is recorded, for messages, such as "packets".
    arguments : callable
        Called with a folder and an interval in s (or None); returns the arguments of `testbed` that request the recordings.
    lost : callable, optional
        Called with a folder; returns the number of records that didn't fit into the guest's memory. If records were lost, the next interval
        is tried.
    steps_s : iterable of float or None, optional
        Intervals to try, in s and in this order.
    unlike : iterable of str, optional
        Keys in the document's ``environment`` that are not compared because recording a run changes them.

    Raises
    ------
    OtherDocumentError
        If no attempt reproduced the document; the message states where the documents first differ.
    """
    tries = {}
    for step_s in steps_s:
        folder = place / f"try-{len(tries)}"
        folder.mkdir()
        difference = repeat(run, folder, kernels, arguments(folder, step_s), unlike)
        if difference and difference.startswith("NOT "):
            raise ReceivedError(f"run {run.name}: {difference}")
        tries[folder] = difference, lost(folder)
        best = min(tries, key=lambda one: (tries[one][0] is not None, tries[one][1]))
        for other in tries.keys() - {best}:
            shutil.rmtree(other, ignore_errors=True)  # so that at most two recordings need space
        # If the document differs although nothing was read during the run, it would differ with any interval.
        if not tries[folder][1] and (difference is None or step_s is None):
            break
    if difference := tries[best][0]:
        raise OtherDocumentError(f"run {run.name} has a different document when its {recorded} are recorded, so these would not be its {recorded}: {difference}")  # fmt: skip
    return best


def repeat(
    run: FinishedRun, folder: Path, kernels: Path | None, arguments: Iterable[str], unlike: Iterable[str] = ()
) -> str | None:
    """Repeat a run with recordings; return how the documents differ, or None if they are identical.

    A text that begins with "NOT " is the reason why the run failed.
    """
    output = folder / "document.json.gz"
    programs = {"testbed": testbeds_here()["testbed"][1]}
    command = reruns.run_command(ROOT, run.specification, output, programs, kernels, run.folder)
    process = reruns.start([*command, *arguments], folder)
    try:
        status = process.wait()
    finally:
        reruns.end([process])
    if output.exists() and unlike:
        made = json.loads(decompress(output.read_bytes()))
        if failure := made.get("failure"):
            return f"NOT REPEATED: {failure['cause']}"
        made["environment"] |= {key: run.document["environment"][key] for key in unlike}
        write_document(made, output)
    return reruns.finding(run.folder, run.name, output, status)


def target_of(run: FinishedRun, kind: str) -> Path:
    """Return the folder in which a run's recordings are kept, ``logs/<kind>/<run>`` in the results folder.

    Raises
    ------
    ReceivedError
        If no file can be created in ``logs/<kind>``, so that a long run isn't repeated in vain.
    """
    folder = run.folder / "logs" / kind
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ReceivedError(f"{shown(folder)} can't be written ({error.strerror}).") from None
    return folder / run.name


def keep(made: Path, target: Path, *patterns: str) -> list[Path]:
    """Empty the folder ``target``, and move the files that match one of the patterns from ``made`` into it; return their new paths, sorted.

    Raises
    ------
    ReceivedError
        If the files can't be written; in this case, ``target`` is removed.
    """
    shutil.rmtree(target, ignore_errors=True)
    try:
        target.mkdir(parents=True)
        for pattern in patterns:
            for file in made.glob(pattern):
                shutil.move(file, target / file.name)
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise ReceivedError(f"{shown(target)} can't be written ({error.strerror}).") from None
    return sorted(target.iterdir())


def disk_words(error: OSError) -> str:
    """Return the path and the reason of a file system error as text, such as "/tmp/a: No space left on device"."""
    return f"{shown(error.filename)}: {error.strerror}" if error.filename else str(error)
