"""Recreate all outputs (tables, analysis, figures, pages, manifest) from received run documents, and compare them byte for byte.

The workflow itself recreates the outputs from copies of the documents in a temporary folder. It executes no runs, because ``gaps=true``
makes it use only the existing documents. It doesn't judge the study as a gate, because results that fail a gate are results like any others.
"""

import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from publishing.result_checks import received_repetitions
from publishing.result_checks.compressed_json import parse
from publishing.result_checks.folder_walk import files_below
from publishing.result_checks.manifest import LARGEST_FILE_BYTES, MANIFEST
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import DOCUMENT_LIMIT, TABLE_LIMIT, read_file
from publishing.result_checks.reruns import end, last_words, start
from run_tables.json_difference import first_byte
from session.checkout import STATED_COMMIT
from study_files import study as studies
from study_files.kernels import names_files_unread
from study_files.study_replications import look_path
from topics.repetitions.tables import REPETITIONS

#: Folders and files in a results folder that are recreated.
DERIVED = (
    "tidy",
    "analysis",
    "figures",
    "workflow",
    "report.html",
    "details.html",
    "findings.json",
    "explore.html",
    MANIFEST,
)
#: File with the resolved study, including title and description.
STUDY = "workflow/study.json"
#: Files that can't be derived from the documents: claims and their versions, kernel descriptions, program archives, and the comparison of
#: runs with their repetitions.
TAKEN = (
    "workflow/claims.yaml",
    "workflow/claims-record.json",
    "workflow/kernel-*.json",
    "programs/*.tar",
    REPETITIONS.path,
)


class NotMadeError(Exception):
    """Results can't be recreated from the received files; the message gives the reason."""


def problems(folder: Path, names: list[str], study, root: Path, place: Path, cores: int) -> list[str]:
    """Recreate all outputs; return a sentence for each received file that differs, is missing, or isn't an output of the workflow.

    Parameters
    ----------
    folder : pathlib.Path
        Received results with valid documents.
    names : list of str
        Names of the runs.
    study : received_study.ReceivedStudy
        The study to which the results belong.
    root : pathlib.Path
        The checkout.
    place : pathlib.Path
        An empty temporary folder.
    cores : int
        Number of cores for the workflow.

    Raises
    ------
    ReceivedError
        If a required file is missing, can't be read, or is from another study.
    NotMadeError
        If the results are unfinished, or if the page compares them with the results of another study.
    """
    if not any(os.path.lexists(folder / name) for name in (STUDY, MANIFEST)):
        raise NotMadeError(f"the study is unfinished: there is no {STUDY}, which is written with the report")
    made = place / "results" / study.content["study"]
    _copy(folder, [STUDY], made)
    (made / STUDY).rename(place / "study.json")
    resolved = _resolved(place / "study.json", study)
    analysis = resolved["analysis"]
    if found := list(received_repetitions.problems(folder, resolved)):
        return found
    if other := analysis["compare_with"]:
        raise NotMadeError(f"the page compares the results with the study {other}, which is not part of them")
    _copy(folder, [f"runs/{name}.json.gz" for name in names], made)
    taken = [path.relative_to(folder).as_posix() for pattern in TAKEN for path in sorted(folder.glob(pattern))]
    _copy(folder, taken, made)
    for description in made.glob("workflow/kernel-*.json"):
        # Without this file, the workflow would build the kernel, which is not needed because no run is executed.
        kernel = made / "kernels" / description.stem.removeprefix("kernel-") / "linux"
        kernel.parent.mkdir(parents=True)
        kernel.touch()
    for scenario, last in study.replications(names).items():
        for replications in studies.looks(study.content) if studies.has_looks(study.content) else ():
            if replications < last:  # the scenario continued after this look
                look = made / look_path(scenario, replications)
                look.parent.mkdir(parents=True, exist_ok=True)
                look.write_text(json.dumps({"goes_on": True}))
    if claims := analysis["claims"]:
        content = read_file(folder, "workflow/claims.yaml", DOCUMENT_LIMIT)
        (place / "config/claims").mkdir(parents=True)
        (place / f"config/claims/{claims}.yaml").write_bytes(content)
    if sentence := _carry_out(study, root, place, cores):
        return [sentence]
    return list(_differences(folder, made, {*taken}))


def _resolved(path, study):
    """Return the resolved study of a received study file; raise ReceivedError if the study differs from the provenance."""
    content = parse(path.read_bytes())
    if names_files_unread(content):
        raise ReceivedError(f"{STUDY} has kernels or programs without a digest that the workflow writes")
    try:
        resolved = studies.resolve(studies.load(path), path)
    except studies.StudyError as error:
        raise ReceivedError(f"{STUDY}: {error.problems[0].removeprefix(f'{path}: ')}") from None
    if studies.measured(resolved) != study.content:
        raise ReceivedError(f"{STUDY} is a different study from the one in tidy/provenance.json")
    return resolved


def _copy(folder, files, target):
    for file in files:
        content = read_file(folder, file, LARGEST_FILE_BYTES if file.startswith("programs/") else DOCUMENT_LIMIT)
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        (target / file).write_bytes(content)


def _carry_out(study, root, place, cores):
    """Run the workflow in the temporary folder; return None, or the reason if the workflow fails."""
    command = [
        Path(sys.executable).with_name("snakemake"), "--snakefile", root / "Snakefile", "--workflow-profile", root / "profiles/default",
        "--directory", place, "--configfile", place / "study.json", "--config", "gaps=true", "--cores", cores, "--use-apptainer",
        # The manifest is made last, from all other files; only the gate comes after it.
        "--", f"results/{study.content['study']}/{MANIFEST}",
    ]  # fmt: skip
    day = study.commit_date and datetime.fromisoformat(study.commit_date).replace(tzinfo=UTC)
    words = (study.commit or "-", str(int(day.timestamp())) if day else "-", "changed" if study.dirty else "clean")
    surroundings = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    process = start(list(map(str, command)), place, surroundings | {STATED_COMMIT: " ".join(words)})
    try:
        status = process.wait()
    finally:
        end([process])
    return f"the outputs can't be made from these documents: {last_words(place, status)}" if status else None


def _differences(folder, made, taken) -> Iterator[str]:
    """Yield a sentence for each difference between received and recreated files, except for the copied files ``taken``."""
    received, again = _derived(folder), _derived(made)
    for file in sorted(received - again):
        yield f"{shown(file)} is not a file that the workflow makes from these documents"
    for file in sorted(again - received):
        yield f"{file} is missing"
    for file in sorted((again & received) - taken):
        content = (made / file).read_bytes()
        try:
            theirs = read_file(folder, file, TABLE_LIMIT)
        except ReceivedError as error:
            yield str(error)
            continue
        if theirs != content:
            offset = first_byte(theirs, content)
            line = theirs.count(b"\n", 0, offset) + 1
            where = f"byte {offset}" if file.endswith(".parquet") else f"line {line}, byte {offset}"
            yield f"{file} doesn't follow from the documents: the first difference is in {where}"


def _derived(folder):
    return {path for path, _ in files_below(folder) if path.split("/")[0] in DERIVED}
