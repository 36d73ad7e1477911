"""What a results folder says of its study: ``tidy/provenance.json``, read without trusting it."""

import math
import re
from itertools import islice, product

from publishing.result_checks.compressed_json import parse
from publishing.result_checks.json_difference import first_difference
from publishing.result_checks.received_errors import ReceivedError, shown
from publishing.result_checks.received_folder import read_file
from study_files import study as studies

PROVENANCE = "tidy/provenance.json"
#: In bytes; that of a hundred scenarios has a thousandth of it.
PROVENANCE_LIMIT = 2**24


class ReceivedStudy:
    """The study that the provenance names, if there is one and it is one of this workflow.

    Attributes
    ----------
    present : bool
        Whether there is a provenance.
    content : dict or None
        The resolved study, every value within the schema's limits.
    problem : str or None
        Why there is none.
    commit : str or None
        Of the workflow that made the results.
    dirty : bool
        Whether that had local changes.
    analysis_image : str or None
        Digest of the image that made the tables.
    """

    def __init__(self, folder):
        self.content = self.problem = self.commit = self.analysis_image = None
        self.dirty = False
        self.present = (folder / PROVENANCE).exists()
        try:
            provenance = parse(read_file(folder, PROVENANCE, PROVENANCE_LIMIT))
            if not isinstance(provenance, dict):
                raise ReceivedError("is no JSON object")
            self._read_workflow(provenance.get("workflow"))
            self.content = resolved(provenance.get("study"))
        except ReceivedError as error:
            self.problem = str(error) if str(error).startswith(PROVENANCE) else f"{PROVENANCE} {error}"
        scenarios = self.content["scenarios"] if self.content else []
        self._conditions = {s["id"]: studies.run_conditions(self.content, s["id"]) for s in scenarios}

    def _read_workflow(self, workflow):
        if isinstance(workflow, dict):
            # It is named in a command that the user may copy.
            commit = workflow.get("commit")
            self.commit = commit if isinstance(commit, str) and re.fullmatch("[0-9a-f]{40}", commit) else None
            self.dirty = workflow.get("dirty") is True
            self.analysis_image = workflow.get("analysis_image_digest")

    def specification(self, name) -> dict | None:
        """Return the specification of the study's run of a name, or None if it has none such."""
        scenario, cca, ip_version, replication = name.split("/")
        if (
            self.content is None
            or scenario not in self._conditions
            or cca not in self.content["ccas"]
            or ip_version not in self.content["ip_versions"]
            or not re.fullmatch("[1-9][0-9]{0,9}", replication)
            or int(replication) > self.content["replications"]
        ):
            return None
        return {
            **self._conditions[scenario],
            "cca": cca,
            "ip_version": ip_version,
            "replication": int(replication),
            "seed": studies.run_seed(self.content["seed"], scenario, replication),
        }

    def count(self) -> int:
        """Return how many runs the study has."""
        factors = (self.content["scenarios"], self.content["ccas"], self.content["ip_versions"])
        return math.prod(map(len, factors)) * self.content["replications"]

    def missing(self, names, at_most) -> list[str]:
        """Return the names of runs of the study that are not among ``names``, the first ones."""
        there = set(names)
        # A study of someone else may have billions of runs: look no further than needed.
        replications = range(1, self.content["replications"] + 1)
        cells = product(self._conditions, self.content["ccas"], self.content["ip_versions"])
        of_study = (f"{'/'.join(cell)}/{replication}" for cell in cells for replication in replications)
        return list(islice((name for name in of_study if name not in there), at_most))


def resolved(study) -> dict:
    """Return a study of the provenance; raise ReceivedError unless it is one that the workflow resolved."""
    try:
        made = studies.resolve(study, "study")
    except studies.StudyError as error:
        raise ReceivedError(f"names no study of this version: {shown(error.problems[0], 400)}") from None
    except RecursionError:
        raise ReceivedError("names a study that is nested too deeply") from None
    made.pop("analysis")  # the tables don't depend on it, so it isn't there
    if first_difference(study, made):
        raise ReceivedError("names a study that is not complete as the workflow writes it")
    return made
