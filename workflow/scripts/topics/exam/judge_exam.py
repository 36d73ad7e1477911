"""Write the scorecard of an exam, and its means beside published ones."""

from rule_script import run_rule
from run_tables.reading import read_runs, read_table
from topics.exam.judge import beside_published, scorecard
from topics.exam.tables import EXAM_VALUES


def reasons(runs, cca) -> dict[str, str]:
    """Return scenario -> why a CCA has no valid run there, in the words of its first run's checks."""
    of_cca = runs[runs["cca"] == cca]
    failed = of_cca[~of_cca.groupby("scenario")["valid"].transform("any")]
    return {name: f"no valid run: {rows['invalid_because'].iloc[0]}" for name, rows in failed.groupby("scenario")}


def main(inputs, outputs, params) -> None:
    """Read measures and runs, write the scorecard and the comparison."""
    values = read_table(inputs.exam_values, EXAM_VALUES)
    values["replication"] = values["replication"].astype(int)
    missing = reasons(read_runs(inputs.runs), params.exam["cca"])
    table = scorecard(values, params.scenarios, params.exam, params.confidence, params.significance, missing)
    table.to_csv(outputs.scorecard, index=False, lineterminator="\n", float_format="%.6g")
    beside = beside_published(values, params.scenarios, params.confidence)
    beside.to_csv(outputs.exam_published, index=False, lineterminator="\n", float_format="%.6g")


if "snakemake" in globals():
    run_rule(main, snakemake)
