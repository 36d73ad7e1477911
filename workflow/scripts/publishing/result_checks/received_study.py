"""Read the study and the run specifications in a results folder without trusting them."""

import re
from contextlib import suppress
from datetime import date
from itertools import islice
from pathlib import Path

from experiment.specification import SPECIFICATION_VERSION
from publishing.result_checks.compressed_json import parse
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import read_file
from run_tables.json_difference import first_difference
from study_files import study as studies
from study_files.kernels import names_files_unread
from study_files.program_ccas import with_named_programs
from study_files.study_replications import replications_of

PROVENANCE = "tidy/provenance.json"
#: Maximum size in bytes of the provenance file; the file of a study with a hundred scenarios is a thousandth of this size.
PROVENANCE_LIMIT = 2**24
SPECIFICATION_KEYS = ("schema_version", "scenario", "cca", "ip_version", "replication", "seed")


class ReceivedStudy:
    """The study that is recorded in the provenance file of a results folder.

    Attributes
    ----------
    present : bool
        Whether the folder contains a provenance file.
    content : dict or None
        The resolved study, with every value within the schema's limits; None if there is no valid study.
    problem : str or None
        Reason why there is no valid study; None if the study is valid.
    commit, commit_date : str or None
        Commit of the workflow that made the results, and the date of the commit; None if unknown.
    dirty : bool
        Whether the workflow had local changes.
    analysis_image : str or None
        Digest of the image that made the tables; None if unknown.
    """

    def __init__(self, folder: Path):
        self.content = self.problem = self.commit = self.commit_date = self.analysis_image = None
        self.dirty = False
        self.present = (folder / PROVENANCE).exists()
        try:
            provenance = parse(read_file(folder, PROVENANCE, PROVENANCE_LIMIT))
            if not isinstance(provenance, dict):
                raise ReceivedError("is not a JSON object")
            self._read_workflow(provenance.get("workflow"))
            self.content = _resolved(provenance.get("study"))
        except ReceivedError as error:
            self.problem = str(error) if str(error).startswith(PROVENANCE) else f"{PROVENANCE} {error}"

    def _read_workflow(self, workflow):
        if isinstance(workflow, dict):
            # The commit is checked because it becomes part of a command that the user may copy.
            commit = workflow.get("commit")
            self.commit = commit if isinstance(commit, str) and re.fullmatch("[0-9a-f]{40}", commit) else None
            self.dirty = workflow.get("dirty") is True
            day = workflow.get("commit_date")
            if isinstance(day, str) and re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", day):
                with suppress(ValueError):  # such as the 30th of February
                    self.commit_date = date.fromisoformat(day).isoformat()
            self.analysis_image = workflow.get("analysis_image_digest")

    def specification(self, name: str) -> dict | None:
        """Return the specification of the study's run with the given name, or None if there is no such run."""
        *cell, replication = name.split("/")
        if self.content is None or not re.fullmatch("[1-9][0-9]{0,9}", replication):
            return None
        try:
            return studies.run_specification(self.content, *cell, replication)
        except KeyError:
            return None

    def replications(self, names) -> dict[str, int]:
        """Return the number of replications of each scenario; with interim looks, the number is derived from the given runs."""
        of_study = (name.split("/") for name in names if self.specification(name))
        return replications_of(self.content, ((*cell, int(last)) for *cell, last in of_study))

    def count(self, names) -> int:
        """Return how many runs the study comprises, including control runs, given the names of the existing runs."""
        return studies.count_runs(self.content, self.replications(names))

    def missing(self, names, at_most) -> list[str]:
        """Return the names of the study's runs that are not among ``names``, but only the first ``at_most`` of them."""
        there = set(names)
        # A study from a third party may comprise billions of runs, so the search ends as soon as possible.
        of_study = ("/".join(map(str, run)) for run in studies.all_runs(self.content, self.replications(names)))
        return list(islice((name for name in of_study if name not in there), at_most))


def _resolved(study):
    """Return the study from a provenance file; raise ReceivedError unless it is resolved exactly as the workflow would resolve it."""
    if names_files_unread(study):
        raise ReceivedError("has a study whose kernels or programs are without a digest that the workflow writes")
    try:
        made = studies.resolve(study, "study")
    except studies.StudyError as error:
        raise ReceivedError(f"has no study of this version: {shown(error.problems[0], 400)}") from None
    except RecursionError:
        raise ReceivedError("has a study that is nested too deeply") from None
    made = studies.measured(made)
    # Earlier versions of the provenance file contain the title and the description.
    if first_difference({key: value for key, value in study.items() if key not in studies.PROSE}, made):
        raise ReceivedError("has a study that is not complete (the workflow writes every key)")
    return made


def check_specification(document: object, source: str) -> dict:
    """Return a run document's `specification` if the workflow itself could have passed it to the testbed.

    The specification is turned into a study of one scenario, which is validated and completed like any other study. The result is a new
    object that equals the received one, with its keys in the schema's order and every text and number within the schema's limits.
    ``source`` names the origin of the specification in messages.

    Raises `ReceivedError` with the first problem, its location, and the allowed values.
    """
    if not isinstance(document, dict) or set(document) - {"cca_definitions"} != set(SPECIFICATION_KEYS):
        keys = ", ".join(SPECIFICATION_KEYS)
        raise ReceivedError(f"{source}: a run's specification has exactly the keys {keys}.")
    version = document["schema_version"]
    if type(version) is not int or version != SPECIFICATION_VERSION:
        version = repr(str(version)[:60])
        raise ReceivedError(f"{source}: schema_version is {version}; allowed: {SPECIFICATION_VERSION}.")
    scenario, programs = with_named_programs(document["scenario"], document["cca"])
    study = {
        "study": "received",
        "seed": document["seed"],  # the limits of a study's seed apply
        "replications": document["replication"],
        # Any kernel CCA can stand in for a program here, because no other group uses it.
        "ccas": ["cubic" if programs else document["cca"]],
        "cca_definitions": document.get("cca_definitions", {}),
        "ip_versions": [document["ip_version"]],
        "scenarios": [scenario],
    }
    if names_files_unread(study):
        raise ReceivedError(
            f"{source}: its kernels or programs are not complete; allowed: with all digests, as the workflow writes them."
        )
    try:
        study = studies.resolve(study, source)
    except studies.StudyError as error:
        raise ReceivedError(error.problems[0]) from None
    if studies.has_looks(study):
        raise ReceivedError(f"{source}: its replication is a rule; allowed: a whole number.")
    made = studies.run_conditions(study, study["scenarios"][0]["id"], cca=study["ccas"][0])
    if programs:
        groups = [
            group | ({"cca": programs[place]} if place in programs else {})
            for place, group in enumerate(made["scenario"]["groups"])
        ]
        made["scenario"] = made["scenario"] | {"groups": groups}
    if made.get("cca_definitions") != document.get("cca_definitions"):
        raise ReceivedError(
            f"{source}: its cca_definitions are not complete; allowed: all keys of the definitions of its CCA, and no others."
        )
    if made["scenario"] != document["scenario"]:
        raise ReceivedError(
            f"{source}: its scenario is not complete; "
            "allowed: every key of every section, and no label, as the workflow writes it."
        )
    of_run = {"cca": document["cca"], "ip_version": document["ip_version"], "replication": study["replications"]}
    return {**made, **of_run, "seed": study["seed"]}
