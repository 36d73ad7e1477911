"""Check a paper's claims against the runs, and list the versions of the claims file."""

import json
from pathlib import Path

import pandas as pd

from rule_script import run_rule
from run_tables.reading import read_flows, read_runs, read_table
from run_tables.scenario_table import SCENARIOS
from topics.claims.claim_samples import reader_of
from topics.claims.claim_verdicts import check_claims
from topics.claims.claim_versions import changes
from topics.claims.run_quantities import with_completions
from topics.claims.tables import CLAIM_VERSIONS


def _as_printed(table):
    """Replace the goodput of runs or flows with the goodput that the application printed.

    A paper's authors use the printed value.
    """
    return table.assign(goodput_mbps=table["application_goodput_mbps"])


def main(inputs, outputs, params) -> None:
    """Read the runs, their flows and their time series; write the verdicts and the versions of the claims file."""
    tables = {}
    if params.claims:
        tables = {
            "flows": _as_printed(read_flows(inputs.flows)),
            "scenarios": read_table(inputs.scenarios, SCENARIOS),
            "sockets": reader_of(inputs.sockets),
        }
    settings = (getattr(params, name) for name in ("claims", "confidence", "significance"))
    short_flows = pd.read_parquet(inputs.short_flows) if hasattr(inputs, "short_flows") else None
    runs = with_completions(_as_printed(read_runs(inputs.runs)), short_flows)
    table = check_claims(runs, *settings, **tables)
    table.to_csv(outputs.claims, index=False, lineterminator="\n")
    record = json.loads(Path(inputs.record).read_text(encoding="utf-8")) if params.claims else []
    versions = pd.DataFrame(changes(record), columns=CLAIM_VERSIONS.names)
    versions.to_csv(outputs.claim_versions, index=False, lineterminator="\n")


if "snakemake" in globals():
    run_rule(main, snakemake)
