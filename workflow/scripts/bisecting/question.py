"""A request for a bisection: two commits, the cells of a study, and a condition."""

import fnmatch
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from bisecting.condition import BisectError, Condition, condition_of
from experiment.programs import has_programs
from publishing.result_checks.testbeds_here import testbeds_here
from session.testbed_identity import image_fact
from study_files import git_trees
from study_files import study as studies
from study_files.kernels import recipe_digest
from study_files.program_ccas import program_of
from study_files.study_runs import definitions_in
from wording.missing_files import absence
from wording.terminal_text import shown

#: Results folder, relative to the current folder.
FOLDER = Path("results/bisect")


@dataclass(frozen=True)
class Question:
    """A request to find the first bad commit.

    Attributes
    ----------
    tree : str
        The repository.
    good, bad : str
        Hashes of the two commits.
    condition : Condition
    study : dict
        The resolved study.
    cells : list of tuple of str
        Cells that may become the deciding cell: scenario, CCA and IP version.
    """

    tree: str
    good: str
    bad: str
    condition: Condition
    study: dict
    cells: list[tuple[str, str, str]]

    @property
    def folder(self) -> Path:
        """Folder of the results."""
        return FOLDER / f"{self.study['study']}-{self.condition.measure}-{self.good[:8]}-{self.bad[:8]}"

    def identity(self, root) -> dict:
        """Return everything that the findings depend on, in the form stored with the findings; ``root`` is the checkout."""
        image = root / "envs/testbed.json"
        return {
            "good": self.good,
            "bad": self.bad,
            "when": self.condition.exact,
            "cells": ["/".join(cell) for cell in self.cells],
            "study": hashlib.sha256(json.dumps(studies.measured(self.study), sort_keys=True).encode()).hexdigest(),
            "recipe": recipe_digest(),
            "image": image_fact(image, "content_digest"),
            "testbed": testbeds_here()["testbed"][1],
        }


def question_of(tree, good, bad, when, study_file, only="*") -> Question:
    """Return the request that the arguments describe.

    Parameters
    ----------
    tree : str
        A Git repository.
    good, bad : str
        Revisions.
    when : str
        Condition, in the form that `condition_of` reads.
    study_file : str
    only : str
        Glob of the cells, in the form scenario/CCA/IP version.

    Raises
    ------
    FileError
        An argument or the study is invalid; the message states the allowed values.
    """
    for name, given in (("KERNEL", tree), ("GOOD", good), ("BAD", bad), ("WHEN", when)):
        if not given:
            raise BisectError(name, [f"it is missing; as in {EXAMPLE}."])
    condition = condition_of(when)
    if why := absence(tree, "folder"):
        raise BisectError(f"KERNEL={shown(tree, 200)}", [f"{why}; allowed: a Git repository of Linux."])
    commits = {name: _commit(tree, name, revision) for name, revision in (("GOOD", good), ("BAD", bad))}
    if commits["GOOD"] == commits["BAD"]:
        raise BisectError(f"BAD={shown(bad, 200)}", [f"it is the same commit as GOOD ({commits['BAD'][:12]})."])
    study = studies.resolve(studies.load(study_file), str(study_file))
    return Question(str(tree), commits["GOOD"], commits["BAD"], condition, study, _cells(study, study_file, only))


#: Example of a complete call.
EXAMPLE = "make bisect KERNEL=../linux GOOD=v7.1 BAD=v7.2 STUDY=smoke WHEN='goodput_mbps falls'"


def _commit(tree, name, revision):
    try:
        return git_trees.commit_of(tree, revision)
    except (git_trees.GitError, OSError) as error:
        raise BisectError(f"{name}={shown(revision, 200)}", [f"{shown(tree, 200)}: {error}."]) from None


def _cells(study, study_file, only):
    """Return the cells that match a glob and can run on a bisected kernel."""
    cells = [cell for cell in studies.cells(study) if fnmatch.fnmatchcase("/".join(cell), only)]
    if not cells:
        first = "/".join(next(iter(studies.cells(study))))
        raise BisectError(f"ONLY={shown(only, 200)}", [f"it matches no cell of {study_file}; allowed: a cell or a glob, such as {first}."])  # fmt: skip
    scenarios = {scenario["id"]: scenario for scenario in study["scenarios"]}
    fit = [cell for cell in cells if _fits(study, scenarios[cell[0]], cell[1])]
    if not fit:
        raise BisectError(study_file, ["each of its cells has a custom kernel, programs or another platform; allowed: studies with cells on the image's kernel (uml)."])  # fmt: skip
    return fit


def _fits(study, scenario, cca):
    own = any(one.get("kernel") for one in definitions_in(study, scenario["id"], cca).values())
    programs = has_programs({"scenario": scenario}) or program_of(study, cca) is not None
    return scenario["platform"] == "uml" and not own and not programs
