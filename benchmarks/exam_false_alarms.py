"""How often an exam calls a CCA worse than itself: exams of a standard CCA against the standard CCAs in other seeds.

An exam with many replications is run once; each of the exams counted here takes so many of them, drawn at random, for the CCA under
examination, and as many others for the standard CCAs. Nothing differs but the seeds, so every row "worse" is a false alarm; harm to
another CCA than its own kind is left out, for there it is held against that kind, and may well be worse::

    snakemake ... --configfile config/studies/exam-quick.yaml --config study=exam-aa replications=12 ccas='[reno, cubic]' exam='{cca: reno}'
    .venv/bin/python benchmarks/exam_false_alarms.py results/exam-aa --cca reno --runs 4 --exams 40
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow" / "scripts"), str(ROOT / "workflow")]
from run_tables.reading import read_table
from topics.exam.criteria import MEASURES
from topics.exam.judge import WORSE, scorecard
from topics.exam.tables import EXAM_VALUES

#: Name of the CCA under examination.
COPY = "copy"


def exam_of_a_copy(values, cca, standards, examined, others) -> pd.DataFrame:
    """Return `EXAM_VALUES` in which a copy of a CCA has some replications, and the standard CCAs have others, numbered alike."""
    parts = [values[(values["cca"] == cca) & values["replication"].isin(examined)].assign(cca=COPY)]
    parts.append(values[values["cca"].isin(standards) & values["replication"].isin(others)])
    for part, chosen in zip(parts, (examined, others), strict=True):
        part["replication"] = part["replication"].map({name: number for number, name in enumerate(chosen, 1)})
    return pd.concat(parts)


def main() -> None:
    """Print how many exams have a row "worse", how many rows have, and which."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("results", type=Path, help="folder of the results")
    parser.add_argument("--cca", default="reno")
    parser.add_argument("--runs", type=int, default=4, help="replications of an exam")
    parser.add_argument("--exams", type=int, default=40)
    given = parser.parse_args()
    study = json.loads((given.results / "tidy/provenance.json").read_text())["study"]
    labels = {scenario["id"]: scenario["label"] for scenario in study["scenarios"]}
    values = read_table(given.results / "analysis/exam_values.csv", EXAM_VALUES)
    values["replication"] = values["replication"].astype(int)
    incumbent = values["measure"].map(lambda name: MEASURES[name].incumbent)
    values = values[~incumbent | (values["other"] == given.cca)]
    replications, random = sorted(values["replication"].unique()), np.random.default_rng(1)
    alarms, rows, tested = 0, [], 0
    for _ in range(given.exams):
        drawn = random.permutation(replications)
        examined, others = drawn[: given.runs], drawn[given.runs : 2 * given.runs]
        part = exam_of_a_copy(values, given.cca, study["exam"]["standards"], examined, others)
        card = scorecard(part, labels, study["exam"] | {"cca": COPY})
        worse = card[card["verdict"] == WORSE]
        alarms, tested = alarms + bool(len(worse)), tested + int(card["p"].notna().sum())
        rows += list(worse["scenario"] + " " + worse["measure"])
    print(f"{alarms} of {given.exams} exams have a row worse; {len(rows)} of {tested} rows are: {rows}")


if __name__ == "__main__":
    main()
