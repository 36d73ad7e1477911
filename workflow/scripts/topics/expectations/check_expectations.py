"""Compare a study's results with its expectations."""

import pandas as pd

from rule_script import run_rule
from run_tables.reading import read_flows, read_runs, read_table
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import TIDY_TABLES
from topics import registry
from topics.claims.claim_samples import reader_of
from topics.expectations.predicate_expectations import check_predicates, runs_of_claims
from topics.expectations.row_expectations import check_rows
from topics.expectations.tables import EXPECTATIONS


def main(inputs, outputs, params) -> None:
    """Read the tables that the expectations refer to, and write the outcomes."""
    asked, outcomes, run_of = params.expectations, [], {}
    if asked["predicates"] or "claims" in params.tables:
        of_runs = read_runs(inputs.runs), read_flows(inputs.flows), read_table(inputs.scenarios, SCENARIOS)
        of_runs += (reader_of(inputs.sockets),)
    if asked["predicates"]:
        outcomes += check_predicates(asked["predicates"], params.confidence, params.significance, *of_runs)
    declared = {table.name: table for table in (*TIDY_TABLES, *(t for topic in registry.TOPICS for t in topic.tables))}
    paths = dict(zip(params.tables, inputs.tables, strict=True))
    read = {name: read_table(path, declared[name]) for name, path in paths.items()}
    if "claims" in read:
        run_of = runs_of_claims(params.claims, read["claims"], *of_runs)
    for one in asked["rows"]:
        rows = check_rows(one, read[one["table"]], declared[one["table"]], params.study)
        outcomes += [
            row | {"run": row["run"] or run_of.get(one["id"], "")} if one["table"] == "claims" else row for row in rows
        ]
    table = pd.DataFrame(outcomes, columns=EXPECTATIONS.names)
    order = table["expectation"].map(asked["ids"].index)
    table = table.iloc[order.argsort(kind="stable")].astype({"number": "Int64"})
    table.to_csv(outputs.expectations, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
