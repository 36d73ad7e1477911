"""Add runs to the open rows of a finished exam, for `make exam CCA=... MORE=<runs>`."""

import csv
import json

from study_files.study_replications import fixed_replications, has_looks
from topics.exam.tables import OPEN_VERDICTS, PRIMARY

#: Path of a finished exam's resolved study, relative to the exam's results folder.
STUDY = "workflow/study.json"


def with_more_runs(study, before, card, more) -> dict:
    """Return the study of an exam with more replications of the scenarios whose verdicts are open.

    Parameters
    ----------
    study, before : dict
        The current exam with the candidate, as in a study file, and the resolved study of the latest finished exam. Both have the same
        scenarios.
    card : iterable of dict
        Rows of the scorecard: role, verdict, scenario, look.
    more : int
        Number of additional replications.
    """
    still = open_scenarios(before, card) - {""}
    of_before = {scenario["id"]: scenario for scenario in before["scenarios"]}
    # Harm is measured relative to the scenario in `seeds_of`, which therefore needs the same number of replications.
    still |= {of_before[name]["seeds_of"] for name in still if of_before[name].get("seeds_of")}
    numbers = fixed_replications(before)
    most = max(before["replications"], *numbers.values())
    scenarios = [
        scenario | {"replications": most + more if scenario["id"] in still else numbers[scenario["id"]]}
        for scenario in study["scenarios"]
    ]
    looks = [*before["exam"].get("looks", ()), most]
    return study | {"scenarios": scenarios, "exam": study["exam"] | {"looks": looks}}


def open_scenarios(before, card) -> set[str]:
    """Return the scenarios in which a row was open in the latest finished exam; "" stands for the row about all scenarios.

    The scorecard may already come from an unfinished extension of the exam, in which some of these rows are decided. Such rows name a later
    look than the rows of the finished exam, so they still count as open. Repeating the command therefore continues the same extension.
    """
    looks = len(before["exam"].get("looks", ())) + 1
    return {
        row["scenario"]
        for row in card
        if row["role"] == PRIMARY and (row["verdict"] in OPEN_VERDICTS or float(row.get("look") or 0) > looks)
    }


def extended(study, results, more, error_type) -> dict:
    """Return the study of an exam with more replications of the scenarios whose verdicts are open in the exam's results folder.

    ``more`` is the number of additional replications. Raises ``error_type``, a subclass of `FileError`, if the exam can't be extended.
    """

    def problem(sentence):
        return error_type(f"MORE={more}", [sentence])

    if not (study.get("exam") or {}).get("cca"):
        raise problem(f"{study['study']} is not an exam; allowed: MORE with make exam.")
    card, file = results / "analysis/scorecard.csv", results / STUDY
    if missing := [path for path in (card, file) if not path.exists()]:
        raise problem(
            f"there is no {missing[0]} yet: MORE adds runs for the open rows of a finished exam; run the same command without MORE first."
        )
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        raise problem(f"{file} is not valid JSON; delete it, and run the same command without MORE first.") from None
    with card.open(encoding="utf-8", newline="") as opened:
        rows = list(csv.DictReader(opened))
    if has_looks(before):
        raise problem(
            f"replications.until in {file} determines the number of runs; allowed with MORE: a fixed number of replications."
        )
    still, here = open_scenarios(before, rows), {scenario["id"] for scenario in study["scenarios"]}
    if here != {scenario["id"] for scenario in before["scenarios"]} or not still <= {"", *here}:
        raise problem(
            f"the exam has other scenarios than the one that was run ({file}); run the same command without MORE first."
        )
    if not still:
        raise problem(f"no row of {card} is open, so more runs would decide nothing.")
    numbers, alone = fixed_replications(before), {one["id"]: one.get("seeds_of") for one in before["scenarios"]}
    needed = {name: numbers[name] for one in still - {""} for name in (one, alone[one]) if name}
    most = max(numbers.values())
    if fewer := next((name for name in needed if needed[name] < most), None):
        raise problem(
            f"{fewer} has {needed[fewer]} replications, and others have {most}; allowed with MORE: the same number in all open cases and in the "
            "scenarios that their seeds_of names, because an earlier look consists of the first replications."
        )
    if still == {""}:
        raise problem(
            f"no row of a single case is open in {card}; allowed: MORE if such rows are open, because it adds runs only to their cases."
        )
    return with_more_runs(study, before, rows, more)
